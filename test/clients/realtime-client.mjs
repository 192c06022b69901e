/** OpenAI's SDK and its Agents SDK in Node.js at a gateway: one line for each promise. Usage: node client.mjs URL KEY */
import { RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";
import { WebSocket } from "ws";

// Node.js has one of its own since version 22.
globalThis.WebSocket ??= WebSocket;

const [url, key] = process.argv.slice(2);
const socketUrl = `${url.replace("https:", "wss:")}/v1/realtime?model=mock/realtime`;
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
let failed = 0;

async function promise(name, run) {
  const timeout = new Promise((_, reject) =>
    setTimeout(() => reject(new Error("took longer than 20 s")), 20_000),
  );
  try {
    const figure = await Promise.race([run(), timeout]);
    console.log(`holds  ${name}${figure === undefined ? "" : `: ${figure}`}`);
  } catch (error) {
    failed++;
    console.log(`FAILS  ${name}: ${error?.message ?? JSON.stringify(error)}`);
  }
}

function assert(holds, what) {
  if (!holds) throw new Error(what);
}

/** A message and its answer, by either class of the SDK. */
function talk(rt, listen) {
  return new Promise((resolve, reject) => {
    let text = "";
    rt.on("error", reject);
    rt.on("session.created", () => {
      rt.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
      const content = [{ type: "input_text", text: "good morning" }];
      rt.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
      rt.send({ type: "response.create" });
    });
    rt.on("response.output_text.delta", ({ delta }) => (text += delta));
    rt.on("response.done", ({ response }) => {
      rt.close();
      listen?.(response);
      resolve(text);
    });
  });
}

await promise("OpenAIRealtimeWS over TLS", async () => {
  const text = await talk(new OpenAIRealtimeWS({ model: "mock/realtime" }, client));
  assert(text === "You said: good morning", text);
  return text;
});

await promise("OpenAIRealtimeWebSocket with the key as a subprotocol, as in a browser", async () => {
  const rt = new OpenAIRealtimeWebSocket({ model: "mock/realtime", dangerouslyAllowBrowser: true }, client);
  const text = await talk(rt, ({ usage }) => assert(usage.total_tokens > 0, "no usage"));
  assert(text === "You said: good morning", text);
});

await promise("a client secret by the SDK opens one session", async () => {
  const { value } = await client.realtime.clientSecrets.create({
    session: { type: "realtime", model: "mock/realtime" },
  });
  assert(value.startsWith("ek_"), value);
  const own = new OpenAI({ baseURL: `${url}/v1`, apiKey: value, maxRetries: 0 });
  const options = { model: "mock/realtime", dangerouslyAllowBrowser: true };
  assert((await talk(new OpenAIRealtimeWebSocket(options, own))) === "You said: good morning", "no answer");
  const again = await talk(new OpenAIRealtimeWebSocket(options, own)).catch(() => "refused");
  assert(again === "refused", "a second session was opened");
});

function agentSession(apiKey, more = {}) {
  const agent = new RealtimeAgent({ name: "Greeter", instructions: "Greet." });
  const session = new RealtimeSession(agent, { transport: "websocket", model: "mock/realtime", ...more });
  const errors = [];
  session.on("error", (error) => errors.push(error));
  return { session, errors, connect: () => session.connect({ apiKey, url: socketUrl }) };
}

await promise("the Agents SDK: a text, its answer as audio, and the history", async () => {
  const { session, errors, connect } = agentSession(key);
  let bytes = 0;
  session.on("audio", ({ data }) => (bytes += data.byteLength));
  await connect();
  const ended = new Promise((resolve) =>
    session.on("agent_end", (_context, _agent, output) => resolve(output)),
  );
  session.sendMessage("good evening");
  const output = await ended;
  const shown = JSON.stringify(session.history);
  session.close();
  assert(errors.length === 0, JSON.stringify(errors));
  assert(output === "You said: good evening", String(output));
  assert(bytes > 0, "no audio");
  assert(shown.includes("good evening"), shown);
  return `${bytes} bytes of audio`;
});

await promise("the Agents SDK: speech, found by the provider, is answered", async () => {
  const { session, errors, connect } = agentSession(key);
  await connect();
  const ended = new Promise((resolve) =>
    session.on("agent_end", (_context, _agent, output) => resolve(output)),
  );
  session.sendAudio(new Uint8Array(48_000).fill(7).buffer);
  session.sendAudio(new Uint8Array(9_600).buffer);
  const output = await ended;
  session.close();
  assert(errors.length === 0, JSON.stringify(errors));
  assert(output === "You said: 12 tokens of audio", String(output));
});

await promise("the Agents SDK: usage is counted", async () => {
  const { session, connect } = agentSession(key);
  await connect();
  const ended = new Promise((resolve) => session.on("agent_end", resolve));
  session.sendMessage("count me");
  await ended;
  const { totalTokens, requests } = session.usage;
  session.close();
  assert(totalTokens > 0 && requests === 1, JSON.stringify(session.usage));
  return `${totalTokens} tokens`;
});

await promise("the Agents SDK: a wrong key is an error of the connection", async () => {
  const { connect } = agentSession("weir_sk_wrong");
  const seen = await connect().then(
    () => "connected",
    () => "refused",
  );
  assert(seen === "refused", seen);
});

process.exit(failed > 0 ? 1 : 0);
