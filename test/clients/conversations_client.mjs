// @openai/agents keeps its session in a conversation of weir: each line names a promise and the figure seen.
// Argument: the package.json beside whose node_modules the library is.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(process.argv[2]);
const { Agent, OpenAIConversationsSession, run } = await import(pathToFileURL(resolve("@openai/agents")));

let failed = 0;

function check(promise, holds, seen) {
  if (!holds) failed++;
  console.log(`${holds ? "ok  " : "FAIL"} ${promise}: ${seen}`);
}

const session = new OpenAIConversationsSession();
const agent = new Agent({ name: "recall", model: "mock/recall" });
await run(agent, "My name is Ada.", { session });
const second = await run(agent, "My name?", { session });
check("the second turn has the first one", String(second.finalOutput).includes("Ada"), "Ada");
const streamed = await run(agent, "My name again?", { session, stream: true });
for await (const _ of streamed) void _;
await streamed.completed;
check("a streamed turn has the others", String(streamed.finalOutput).includes("Ada"), "Ada");
const items = await session.getItems();
check("each item is kept once", items.length === 6, items.length);
const newest = await session.getItems(2);
check("a limit gives the newest ones, in order", newest[1]?.id === items[5].id, newest.length);
const popped = await session.popItem();
const left = await session.getItems();
check("an item is taken back", popped.id === items[5].id && left.length === 5, left.length);
await session.clearSession();
check("a cleared session is empty", (await session.getItems()).length === 0, "empty");
const conversationId = await session.getSessionId();
await run(agent, "My name is Bo.", { conversationId });
const again = await run(agent, "My name?", { conversationId });
check("a conversation id continues it", String(again.finalOutput).includes("Bo"), "Bo");
process.exit(failed > 0 ? 1 : 0);
