% SPDX-License-Identifier: BSD-3-Clause

function [eigenvalues, signature, X] = d2ke_gdk_led(D, R)
% D2KE_GDK_LED  Spectrum of the doubly centred squared distances: the baseline GDK_LED.
%   [eigenvalues, signature, X] = d2ke_gdk_led(D, R) for the symmetric n x n matrix
%   D of distances takes B = -J D.^2 J / 2 with J = I - 1/n.
%     eigenvalues   the R of largest modulus, in its decreasing order, without
%                   those that are 0 but for rounding
%     signature     [p q]: how many of these are positive and negative
%     X             the embedded objects in rows: eigenvectors times the roots of
%                   the moduli; the largest component of each is positive
%
%   Pekalska, Paclik, Duin 2001, section 3.

n = size(D, 1);
if size(D, 2) ~= n
    error('d2ke_gdk_led: D must be square, got %d x %d', n, size(D, 2));
end

squares = D.^2;
row_means = zeros(n, 1);
for i = 1:n
    row_means(i) = sum(squares(i, :)) / n;
end
B = zeros(n);
for i = 1:n
    for j = 1:n
        B(i, j) = -(squares(i, j) - row_means(i) - row_means(j) + mean(row_means)) / 2;
    end
end
B = (B + B') / 2;

[Q, L] = eig(B);
values = diag(L);
[moduli, order] = sort(abs(values), 'descend');
kept = order(moduli > n * eps * moduli(1));
kept = kept(1:min(R, numel(kept)));
eigenvalues = values(kept);
signature = [sum(eigenvalues > 0), sum(eigenvalues < 0)];

X = zeros(n, numel(kept));
for j = 1:numel(kept)
    direction = Q(:, kept(j));
    [~, largest] = max(abs(direction));
    X(:, j) = sign(direction(largest)) * direction * sqrt(abs(eigenvalues(j)));
end
end
