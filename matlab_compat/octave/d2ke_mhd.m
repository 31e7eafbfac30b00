% SPDX-License-Identifier: BSD-3-Clause

function d = d2ke_mhd(u, v)
% D2KE_MHD  Modified Hausdorff distance of two sets of vectors, by its definition.
%   d = d2ke_mhd(u, v) for an n x k and an m x k matrix (one vector in each row) is
%   the larger of the two means of nearest-neighbour distances, from u to v and
%   from v to u.
%
%   Dubuisson & Jain 1994; Wu, Yen, Xu, Ravikumar, Witbrock 2018 (D2KE), eq. (2).

d = max(mean(d2ke_nearest(u, v)), mean(d2ke_nearest(v, u)));
end
