// The next version. Somebody was generous.
const { item, days } = JSON.parse(await new Response(process.stdin).text());

const isFood = ["cheese", "bread", "apples"].includes(item);
console.log(JSON.stringify({ refund: !isFood && days <= 60 }));
