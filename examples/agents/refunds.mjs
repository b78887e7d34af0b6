// A stand-in for the agent of the pack: a program that reads its task and writes its answer.
import { text } from "node:stream/consumers";

const { item, daysSinceDelivery } = JSON.parse(await text(process.stdin));

const isFood = ["cheese", "bread", "apples"].includes(item);
const refund = !isFood && daysSinceDelivery <= 30;
const reason = isFood ? "Food cannot be returned." : `It was delivered ${daysSinceDelivery} days ago.`;

console.log(JSON.stringify({ refund, reason }));
