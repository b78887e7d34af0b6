// @ts-check

/** The work as it is sent in each turn. The first remark is followed at once, the second at the second time of asking, the third never. */
export const WORK = [
  "Plan.\n\nTODO: name the owner\n\nTODO: say how long it takes\n\nTODO: paint it green\n",
  "Plan of Ada.\n\nTODO: say how long it takes\n\nTODO: paint it green\n",
  "Plan of Ada.\n\nIt takes two hours.\n\nTODO: paint it green\n",
];

/**
 * By a word in the id of a remark; what is decided on it, as arguments.
 * @type {readonly (readonly [string, ...string[]])[]}
 */
export const DECISIONS = [
  ["name-the-owner", "accepted"],
  ["say-how-long", "partial", "--explanation", "asked those who know"],
  ["paint-it-green", "rejected", "--reason-code", "disagree"],
];

/** The turns in which each remark is made, and those in which it is decided on. */
export const EXPECTED = [
  { word: "name-the-owner", made: [1], decided: [[2, "accepted"]] },
  {
    word: "say-how-long",
    made: [1, 2],
    decided: [
      [2, "partial"],
      [3, "partial"],
    ],
  },
  { word: "paint-it-green", made: [1], decided: [[2, "rejected"]] },
];
