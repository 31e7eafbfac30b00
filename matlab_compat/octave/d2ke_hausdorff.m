% SPDX-License-Identifier: BSD-3-Clause

function d = d2ke_hausdorff(u, v)
% D2KE_HAUSDORFF  Hausdorff distance of two sets of vectors, by its definition.
%   d = d2ke_hausdorff(u, v) for an n x k and an m x k matrix (one vector in each
%   row) is the largest of all nearest-neighbour distances, from u to v and from
%   v to u.

d = max(max(d2ke_nearest(u, v)), max(d2ke_nearest(v, u)));
end
