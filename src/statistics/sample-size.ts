import type { TasksNeeded } from "../protocol/evals/eval-statistics.ts";
import { Z95 } from "./wilson.ts";

/** The normal deviate below which 80 % lie. */
const Z80 = 0.8416212335729143;

/**
 * The number of tasks that would show a difference of `margin` four times out of five, if as many of them change as changed now.
 * `discordance` is the share of tasks lost or gained; for scores between 0 and 1 the mean square of the differences, which is the
 * same figure when they are all 0 or 1.
 */
export function tasksNeeded(discordance: number, margin: number): TasksNeeded {
  const none = { value: null, discordance, power: 0.8 } as const;
  if (discordance === 0) return { ...none, reason: "no_discordance" };
  const rest = discordance - margin ** 2;
  if (rest < 0) return { ...none, reason: "discordance_below_margin" };
  const value = Math.ceil((Z95 * Math.sqrt(discordance) + Z80 * Math.sqrt(rest)) ** 2 / margin ** 2);
  return { value, discordance, power: 0.8 };
}
