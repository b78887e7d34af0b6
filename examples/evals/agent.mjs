// The agent that is evaluated: any program that reads its task from stdin and prints its answer.
const { item, days } = JSON.parse(await new Response(process.stdin).text());

const isFood = ["cheese", "bread", "apples"].includes(item);
console.log(JSON.stringify({ refund: !isFood && days <= 30 }));
