// An agent with a tool, which it finds at the address that Assay gives it. In an evaluation the fixtures of the task answer.
import { text } from "node:stream/consumers";

const { customer, days } = JSON.parse(await text(process.stdin));

async function call(tool, args) {
  const { ASSAY_TOOLS_URL: url, ASSAY_TOOLS_TOKEN: token } = process.env;
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ tool, arguments: args });
  const { result, error } = await (await fetch(`${url}/call`, { method: "POST", headers, body })).json();
  if (error) throw new Error(`${tool} answered ${error.code}: ${error.message}`);
  return result;
}

const { plan } = await call("crm:find-customer", { id: customer });
console.log(JSON.stringify({ refund: days <= (plan === "Pro" ? 60 : 30) }));
