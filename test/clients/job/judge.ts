/** Stands between a client and a gateway, and judges what the gateway answers. */
import { isObject, parseJson } from "../../../src/core/json.ts";
import { judgeResponseObject, judgeWritten } from "../../helpers/judge-responses.ts";

export interface Judge {
  url: string;
  /** Types of the input items of each call of `/v1/responses`, joined by blanks. */
  asked: string[];
  /** Stops listening. @returns the faults of all answers */
  stop(): Promise<string[]>;
}

/** Stands between a client and a gateway, and judges each answer of `/v1/responses`. */
export function startJudge(url: string): Judge {
  const judged: Promise<string[]>[] = [];
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      headers.delete("host");
      const body = request.method === "POST" ? await request.text() : undefined;
      if (pathname === "/v1/responses") asked.push(itemTypes(body ?? ""));
      const answer = await fetch(url + pathname + search, { method: request.method, headers, body });
      if (!answer.ok || !answer.body) {
        const text = await answer.text();
        judged.push(
          Promise.resolve([
            `${request.method} ${pathname} is answered ${answer.status} ${text.slice(0, 300)}`,
          ]),
        );
        return new Response(text, { status: answer.status, headers: answer.headers });
      }
      const [shown, kept] = answer.body.tee();
      const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      if (pathname === "/v1/responses") judged.push(judgeAnswer(new Response(kept), isStream));
      return new Response(shown, { status: answer.status, headers: answer.headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    async stop() {
      await server.stop(true);
      return (await Promise.all(judged)).flat();
    },
  };
}

async function judgeAnswer(answer: Response, isStream: boolean): Promise<string[]> {
  const bytes = await answer.bytes();
  if (isStream) return judgeWritten(bytes);
  const body = parseJson(Buffer.from(bytes).toString("utf8"));
  return isObject(body) ? judgeResponseObject(body) : ["an answer is no JSON object"];
}

function itemTypes(body: string): string {
  const parsed = parseJson(body);
  const input = isObject(parsed) && Array.isArray(parsed.input) ? parsed.input : [];
  return input.map((item) => (isObject(item) ? String(item.type ?? "message") : "text")).join(" ");
}
