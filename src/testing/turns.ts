/** Counts how often other work of the process has its turn, until the result is called. */
export function turnsOfOthers(): () => number {
  let turns = 0;
  let isOver = false;
  const tick = () => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  return () => {
    isOver = true;
    return turns;
  };
}
