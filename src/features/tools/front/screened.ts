/** Lets a call of a tool pass what looks at tools: its arguments on the way to the server, its result on the way back. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { ToolScreen } from "../../../core/tool-screen.ts";
import type { Piece, PostAsk } from "../asks.ts";
import type { Checked } from "./checks.ts";

/** Members of a call with words of the client: also its answers to what a server asked. */
const WHAT_SERVERS_GET = ["arguments", "inputResponses"] as const;

/** @throws GatewayError: the tool does not run */
export async function screenedAsk(
  ask: PostAsk,
  { message, params }: Pick<Checked, "message" | "params">,
  name: string,
  screen: ToolScreen,
): Promise<PostAsk> {
  const changed: JsonObject = { ...params };
  for (const member of WHAT_SERVERS_GET) {
    const { [member]: given } = params;
    if (isObject(given)) changed[member] = await screen.arguments(name, given);
  }
  if (Bun.deepEquals(changed, params)) return ask;
  // Headers repeat arguments as they were.
  const { params: _, ...rest } = ask;
  return { ...rest, text: JSON.stringify({ ...message, params: changed }) };
}

/** @throws GatewayError: the client gets no result */
export async function* screenedPieces(
  pieces: AsyncGenerator<Piece, void>,
  name: string,
  screen: ToolScreen,
): AsyncGenerator<Piece, void> {
  for await (const piece of pieces) {
    if ("events" in piece) yield { ...piece, events: await screenedEvents(piece.events, name, screen) };
    else if ("status" in piece && piece.body !== undefined)
      yield { ...piece, body: await screenedMessage(piece.body, name, screen) };
    else yield piece;
  }
}

/** Whole events. */
async function screenedEvents(events: string, name: string, screen: ToolScreen): Promise<string> {
  const lines = events.split("\n").map(async (line) => {
    const data = /^data: ?(.*?)(\r?)$/.exec(line);
    return data ? `data: ${await screenedMessage(data[1]!, name, screen)}${data[2]}` : line;
  });
  return (await Promise.all(lines)).join("\n");
}

async function screenedMessage(text: string, name: string, screen: ToolScreen): Promise<string> {
  const message = parseJson(text);
  if (!isObject(message)) return text;
  const changed: JsonObject = { ...message };
  for (const member of ["result", "params", "error"] as const) {
    const { [member]: given } = message;
    if (isObject(given)) changed[member] = await screen.result(name, given);
  }
  return Bun.deepEquals(changed, message) ? text : JSON.stringify(changed);
}
