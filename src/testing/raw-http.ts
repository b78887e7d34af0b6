import { connect, type Socket } from "node:net";

export interface RawAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes bytes to a server as they are and gives what came back until the connection ended. */
export async function rawHttp(url: string, write: (socket: Socket) => void | Promise<void>): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  // A server that has enough may reset the connection; what it said before still counts.
  socket.on("error", () => {});
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  await write(socket);
  await ended;
  return parseAnswer(text);
}

function parseAnswer(text: string): RawAnswer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((header) => {
      const [name = "", ...value] = header.split(": ");
      return [name.toLowerCase(), value.join(": ")];
    }),
  );
  return { status: Number(line.split(" ")[1] ?? 0), headers, body: rest.join("\r\n\r\n") };
}
