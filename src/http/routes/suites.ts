import { listSuites } from "../../evals/suite/stored-suite.ts";
import { putSuite, readSuite } from "../../evals/suite/suite-store.ts";
import type { SuiteListQuery } from "../../protocol/evals/suite-api.ts";
import type { SUITE_OPERATIONS } from "../../protocol/evals/suite-operations.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

const listSuitesRoute: Handler = async (context) => {
  const { tenant } = callerOf(context);
  return { status: 200, json: await listSuites(context.host, tenant, context.query as SuiteListQuery) };
};

const putSuiteRoute: Handler = async (context) => {
  const { suiteRef: ref = "" } = context.params;
  const json = await putSuite(context.host, { caller: callerOf(context), ref, bytes: context.bodyBytes });
  return { status: json.created ? 201 : 200, json };
};

/** The author's text: what was reviewed is what is read. */
const getSuiteRoute: Handler = async (context) => {
  const { suiteRef = "" } = context.params;
  const { text } = await readSuite(context.host, callerOf(context).tenant, suiteRef);
  return { status: 200, raw: text, contentType: "application/json" };
};

export const SUITE_ROUTES: Readonly<Record<keyof typeof SUITE_OPERATIONS, Handler>> = {
  listSuites: listSuitesRoute,
  putSuite: putSuiteRoute,
  getSuite: getSuiteRoute,
};
