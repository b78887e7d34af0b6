import { parsedJson } from "../json/check-json.ts";
/** One log record before it is encoded as OTLP. */
export interface LogRecord {
  readonly eventName: string;
  readonly atMs: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Members without a value are left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
}

export interface LogSource {
  readonly service: string;
  readonly version: string;
  readonly scope: string;
}

/** SEVERITY_NUMBER_INFO. */
const INFO = 9;

/** The body of `POST /v1/logs`: OTLP/HTTP in JSON, where 64-bit numbers are texts and ids are hexadecimal. */
export function otlpLogs(
  { service, version, scope }: LogSource,
  observedAtMs: number,
  records: readonly LogRecord[],
): string {
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attributes({ "service.name": service, "service.version": version }) },
        scopeLogs: [
          {
            scope: { name: scope, version },
            logRecords: records.map((record) => ({
              timeUnixNano: nanoseconds(record.atMs),
              observedTimeUnixNano: nanoseconds(observedAtMs),
              severityNumber: INFO,
              severityText: "INFO",
              eventName: record.eventName,
              // Collectors that predate the event name field read this attribute.
              attributes: attributes({ "event.name": record.eventName, ...record.attributes }),
              traceId: record.traceId,
              spanId: record.spanId,
            })),
          },
        ],
      },
    ],
  });
}

function attributes(values: LogRecord["attributes"]) {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === "string" ? { stringValue: value } : { doubleValue: value } }];
  });
}

function nanoseconds(ms: number): string {
  return `${Math.trunc(ms)}000000`;
}

/** The number of rejected records, from the response to an accepted batch. */
export function rejectedRecords(answer: string): number {
  // A response in another format is ignored.
  const response = parsedJson(answer) as
    | { partialSuccess?: { rejectedLogRecords?: string | number } }
    | undefined
    | null;
  const rejected = Number(response?.partialSuccess?.rejectedLogRecords ?? 0);
  return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
}
