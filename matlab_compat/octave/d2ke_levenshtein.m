% SPDX-License-Identifier: BSD-3-Clause

function d = d2ke_levenshtein(x, y)
% D2KE_LEVENSHTEIN  Edit distance of two strings, by its definition.
%   d = d2ke_levenshtein(x, y) is the least number of insertions, deletions and
%   substitutions of letters that turn x into y. x and y are char rows or vectors
%   of numbers (one per letter), and may be empty.
%
%   Octave's char holds the bytes of UTF-8 and MATLAB's the units of UTF-16: for
%   letters beyond ASCII give numbers, the code points.
%
%   Levenshtein 1966; the table of Wagner & Fischer 1974.

n = numel(x);
m = numel(y);

% table(i+1, j+1) is the distance of the first i letters of x and the first j of y.
table = zeros(n + 1, m + 1);
table(:, 1) = (0:n)';
table(1, :) = 0:m;
for i = 1:n
    for j = 1:m
        substituted = table(i, j);
        if x(i) ~= y(j)
            substituted = substituted + 1;
        end
        one_more = min(table(i, j + 1), table(i + 1, j)) + 1;
        table(i + 1, j + 1) = min(substituted, one_more);
    end
end
d = table(n + 1, m + 1);
end
