% SPDX-License-Identifier: BSD-3-Clause

function [K, K_new] = d2ke_dsk(D, kind, gamma, beta, repair, D_new)
% D2KE_DSK  Distance substitution kernels: the baselines DSK_RBF and DSK_ND.
%   K = d2ke_dsk(D, 'rbf', gamma) is exp(-gamma D.^2), and
%   K = d2ke_dsk(D, 'nd') is -D.^2.
%   K = d2ke_dsk(D, kind, gamma, beta) has the exponent beta in the place of 2;
%   gamma is [] for 'nd'.
%
%   K = d2ke_dsk(D, kind, gamma, beta, repair) for the symmetric n x n matrix D of
%   the training objects makes K positive semidefinite:
%     'none'    does not
%     'clip'    sets negative eigenvalues to 0
%     'flip'    gives them the opposite sign
%     'shift'   subtracts the least one, if negative, from all
%
%   [K, K_new] = d2ke_dsk(D, kind, gamma, beta, repair, D_new) does to the rows of
%   other objects (m x n, their distances to the training objects) what it did to
%   those of the training objects; nothing for 'shift', which changes only how
%   similar an object is to itself.
%
%   Haasdonk & Bahlmann 2004; Chen, Garcia, Gupta, Rahimi, Cazzanti 2009, section 4.

if nargin < 3
    gamma = [];
end
if nargin < 4
    beta = 2;
end
if nargin < 5
    repair = 'none';
end
if nargin < 6
    D_new = zeros(0, size(D, 2));
end

if strcmp(kind, 'rbf')
    if isempty(gamma)
        error('d2ke_dsk: ''rbf'' needs gamma');
    end
    K = exp(-gamma * D.^beta);
    K_new = exp(-gamma * D_new.^beta);
elseif strcmp(kind, 'nd')
    K = -D.^beta;
    K_new = -D_new.^beta;
else
    error('d2ke_dsk: kind must be ''rbf'' or ''nd''');
end
if strcmp(repair, 'none')
    return
end

[Q, L] = eig((K + K') / 2);
values = diag(L);
if strcmp(repair, 'shift')
    K = K - min([0; values]) * eye(size(K, 1));
    return
elseif strcmp(repair, 'clip')
    of_negative = 0;
elseif strcmp(repair, 'flip')
    of_negative = -1;
else
    error('d2ke_dsk: repair must be ''none'', ''clip'', ''flip'' or ''shift''');
end

% The map is diagonal in the eigenvectors, with 1 for those of eigenvalues >= 0.
repaired = zeros(size(K));
map = zeros(size(K));
for i = 1:numel(values)
    factor = 1;
    if values(i) < 0
        factor = of_negative;
    end
    repaired = repaired + factor * values(i) * (Q(:, i) * Q(:, i)');
    map = map + factor * (Q(:, i) * Q(:, i)');
end
K = repaired;
K_new = K_new * map;
end
