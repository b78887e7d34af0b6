// The agent that is evaluated: any program that reads its task from stdin and prints its answer.
import { text } from "node:stream/consumers";

const { item, days } = JSON.parse(await text(process.stdin));

const isFood = ["cheese", "bread", "apples"].includes(item);
console.log(JSON.stringify({ refund: !isFood && days <= 30 }));
