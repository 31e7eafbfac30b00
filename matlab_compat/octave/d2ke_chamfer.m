% SPDX-License-Identifier: BSD-3-Clause

function d = d2ke_chamfer(u, v)
% D2KE_CHAMFER  Chamfer distance of two sets of vectors, by its definition.
%   d = d2ke_chamfer(u, v) for an n x k and an m x k matrix (one vector in each
%   row) is the sum of the two means of nearest-neighbour distances, from u to v
%   and from v to u.

d = mean(d2ke_nearest(u, v)) + mean(d2ke_nearest(v, u));
end
