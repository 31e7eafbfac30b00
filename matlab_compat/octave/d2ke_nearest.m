% SPDX-License-Identifier: BSD-3-Clause

function nearest = d2ke_nearest(u, v)
% D2KE_NEAREST  Distance of each vector of one set to the other set.
%   nearest = d2ke_nearest(u, v) for an n x k and an m x k matrix (one vector in
%   each row) is the n x 1 vector of min over j of the Euclidean distance of
%   u(i,:) and v(j,:).

if size(u, 1) < 1 || size(v, 1) < 1
    error('d2ke_nearest: a set must have at least one row');
end
if size(u, 2) ~= size(v, 2)
    error('d2ke_nearest: u has %d columns and v has %d', size(u, 2), size(v, 2));
end

nearest = Inf(size(u, 1), 1);
for i = 1:size(u, 1)
    for j = 1:size(v, 1)
        distance = sqrt(sum((u(i, :) - v(j, :)).^2));
        nearest(i) = min(nearest(i), distance);
    end
end
end
