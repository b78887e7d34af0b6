// The same agent as an endpoint: it is posted { input, taskId, trial, … } and answers with JSON.
import { createServer } from "node:http";

const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { item, days } = JSON.parse(text).input;
  const isFood = ["cheese", "bread", "apples"].includes(item);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ refund: !isFood && days <= 30 }));
});

server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
