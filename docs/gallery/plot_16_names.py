# SPDX-License-Identifier: BSD-3-Clause
"""
Names by language
=================

Of which language is a family name? A hundred and sixty names of four languages are the data. A
model of their edit distances learns the endings and the groups of letters that are typical, and
also says how sure it is about names that it has not seen.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Common family names, in lower case and without accents.

names = {
    "Finnish": """
        korhonen virtanen makinen nieminen makela hamalainen laine heikkinen koskinen
        jarvinen lehtonen lehtinen saarinen salminen heinonen niemi heikkila kinnunen
        salonen turunen salo laitinen tuominen rantanen karjalainen jokinen mattila
        savolainen lahtinen ahonen ojala leppanen vaisanen hiltunen miettinen leinonen
        pitkanen aaltonen manninen koivisto""",
    "Italian": """
        rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno
        gallo conti deluca mancini costa giordano rizzo lombardi moretti barbieri
        fontana santoro mariani rinaldi caruso ferrara galli martini leone longo gentile
        martinelli vitale lombardo serra coppola desantis marchetti parisi""",
    "Japanese": """
        sato suzuki takahashi tanaka watanabe ito yamamoto nakamura kobayashi kato
        yoshida yamada sasaki yamaguchi matsumoto inoue kimura hayashi shimizu yamazaki
        mori abe ikeda hashimoto yamashita ishikawa nakajima maeda fujita ogawa goto
        okada hasegawa murakami kondo ishii saito sakamoto endo aoki""",
    "Polish": """
        nowak kowalski wisniewski wojcik kowalczyk kaminski lewandowski zielinski
        szymanski wozniak dabrowski kozlowski jankowski mazur wojciechowski kwiatkowski
        krawczyk kaczmarek piotrowski grabowski zajac pawlowski michalski krol wieczorek
        jablonski wrobel nowakowski majewski olszewski stepien malinowski jaworski
        adamczyk dudek nowicki pawlak gorski witkowski walczak""",
}
X = np.array([name for text in names.values() for name in text.split()])
y = np.array([language for language, text in names.items() for _ in text.split()])
print({language: int(np.sum(y == language)) for language in names})

# %%
# Five times, a fifth of the names is predicted by a model of the others.

part = np.random.default_rng(0).permutation(len(X)) % 5
predicted = np.empty_like(y)
by_nearest = np.empty_like(y)
for fold in range(5):
    train, test = part != fold, part == fold
    model = d2ke.d2ke_train(y[train], X[train].tolist())
    predicted[test] = d2ke.d2ke_predict(None, X[test].tolist(), model)[0]
    near, _ = d2ke.nearest(X[test].tolist(), X[train].tolist(), k=1, distance="levenshtein")
    by_nearest[test] = y[train][near[:, 0]]
shares = [100 * np.mean(labels == y) for labels in (predicted, by_nearest)]
print("model {:.1f} %, nearest name {:.1f} %".format(*shares))
wrong = np.flatnonzero(predicted != y)
for i in wrong:
    print(f"{X[i]} ({y[i]}) was taken for {predicted[i]}")

# %%
# A model of all names, applied to new ones. The larger the decision value, the surer the model.

new = [
    "nurminen", "rautavaara", "fellini", "puccini", "kurosawa", "miyazaki", "szymborska",
    "penderecki",
]  # fmt: skip
model = d2ke.d2ke_train(y, X.tolist())
labels, _, decisions = d2ke.d2ke_predict(None, new, model)

fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
image = ax.imshow(decisions, cmap="RdBu_r", vmin=-1.2, vmax=1.2, aspect="auto")
for (i, j), value in np.ndenumerate(decisions):
    ax.text(j, i, f"{value:+.2f}", ha="center", va="center", fontsize=9,
            color="white" if abs(value) > 0.8 else "black")  # fmt: skip
ax.set_xticks(range(len(model.classes)), model.classes)
ax.set_yticks(range(len(new)), new)
ax.set(xlabel="language", ylabel="new name", title="Decision values")
fig.colorbar(image, ax=ax)
plt.show()
