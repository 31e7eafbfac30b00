% SPDX-License-Identifier: BSD-3-Clause

function Z = d2ke_features(D, gamma)
% D2KE_FEATURES  Random features of distances.
%   Z = d2ke_features(D, gamma) for the n x R matrix D of distances to R random
%   objects: Z(i,j) = exp(-gamma D(i,j)) / sqrt(R).
%
%   Z = d2ke_features(D) is D / sqrt(R), the features of the Random Warping Series
%   code.
%
%   Wu, Yen, Xu, Ravikumar, Witbrock 2018 (D2KE), Algorithm 1.

R = size(D, 2);
Z = zeros(size(D));
for i = 1:size(D, 1)
    for j = 1:R
        if nargin < 2
            Z(i, j) = D(i, j) / sqrt(R);
        else
            Z(i, j) = exp(-gamma * D(i, j)) / sqrt(R);
        end
    end
end
end
