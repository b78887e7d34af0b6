// The next version. Somebody was generous.
import { text } from "node:stream/consumers";

const { item, days } = JSON.parse(await text(process.stdin));

const isFood = ["cheese", "bread", "apples"].includes(item);
console.log(JSON.stringify({ refund: !isFood && days <= 60 }));
