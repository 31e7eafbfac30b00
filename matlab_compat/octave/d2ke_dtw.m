% SPDX-License-Identifier: BSD-3-Clause

function d = d2ke_dtw(s, t, window, ground)
% D2KE_DTW  Dynamic time warping distance of two series, by its definition.
%   d = d2ke_dtw(s, t) for an n x k and an m x k matrix (time in rows, channels
%   in columns) is the least sum, over the warping paths from (1,1) to (n,m) with
%   steps (1,0), (0,1) and (1,1), of the Euclidean distances of s(i,:) and t(j,:).
%
%   d = d2ke_dtw(s, t, window) admits only abs(i - j) <= radius:
%     [], or a negative number   no window
%     w >= 0                     radius = max(w, abs(n - m))
%     'rws'                      radius = max(min(40, ceil(max(n, m)/10)), abs(n - m)),
%                                the rule of the Random Warping Series code
%
%   d = d2ke_dtw(s, t, window, 'sqeuclidean') adds up squared distances.
%
%   Sakoe & Chiba 1978; Wu, Yen, Yi, Xu, Lei, Witbrock 2018 (Random Warping Series).

if nargin < 3
    window = [];
end
if nargin < 4
    ground = 'euclidean';
end
squared = strcmp(ground, 'sqeuclidean');
if ~squared && ~strcmp(ground, 'euclidean')
    error('d2ke_dtw: ground must be ''euclidean'' or ''sqeuclidean''');
end

n = size(s, 1);
m = size(t, 1);
if n < 1 || m < 1
    error('d2ke_dtw: a series must have at least one row');
end
if size(s, 2) ~= size(t, 2)
    error('d2ke_dtw: s has %d columns and t has %d', size(s, 2), size(t, 2));
end

if ischar(window)
    if ~strcmp(window, 'rws')
        error('d2ke_dtw: window must be a number, [] or ''rws''');
    end
    radius = max(min(40, ceil(max(n, m)/10)), abs(n - m));
elseif isempty(window) || window < 0
    radius = max(n, m);
else
    radius = max(window, abs(n - m));
end

% table(i+1, j+1) is the distance of the first i rows of s and the first j of t.
table = Inf(n + 1, m + 1);
table(1, 1) = 0;
for i = 1:n
    for j = max(1, i - radius):min(m, i + radius)
        cost = sum((s(i, :) - t(j, :)).^2);
        if ~squared
            cost = sqrt(cost);
        end
        best = min(table(i, j), min(table(i, j + 1), table(i + 1, j)));
        table(i + 1, j + 1) = cost + best;
    end
end
d = table(n + 1, m + 1);
end
