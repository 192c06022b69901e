/** What Bedrock refuses in a Converse body although it is JSON: documented rules, and those that users report. */
import { specsOf } from "./converse-pieces.ts";
import { listOf, objectOf, textOf, type Value } from "./said.ts";

/** Faults of a body that reached Bedrock. @param model its id, which names the family */
export function converseFaults(body: Value, model: string): string[] {
  return [
    ...unknown(body, MEMBERS, "the body"),
    ...unknown(objectOf(body["inferenceConfig"]), INFERENCE, "inferenceConfig"),
    ...messageFaults(body, model),
    ...toolFaults(body),
    ...limitFaults(body),
    ...(JSON.stringify(body).includes("weir1.") ? ["a value that is wrapped for clients"] : []),
  ];
}

const MEMBERS = words(`messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields
  additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig promptVariables`);
const INFERENCE = words("maxTokens temperature topP stopSequences");
const BLOCK = words(
  "text image document video audio toolUse toolResult reasoningContent cachePoint guardContent searchResult citationsContent",
);

/** Roles alternate from the user's on; the results of a turn are in the next one, all of them. */
function messageFaults(body: Value, model: string): string[] {
  const faults: string[] = [];
  const messages = listOf(body["messages"]);
  if (messages[0]?.["role"] !== "user") faults.push("messages[0]: the first turn is not the user's");
  let open: string[] = [];
  const names = new Set<string>();
  messages.forEach((message, index) => {
    const say = (sentence: string) => faults.push(`messages[${index}]: ${sentence}`);
    const blocks = listOf(message["content"]);
    if (index > 0 && message["role"] === messages[index - 1]!["role"]) say("two turns of one role in a row");
    if (blocks.every((block) => block["cachePoint"] !== undefined)) say("no content");
    const answered = blocks.flatMap((block) =>
      block["toolResult"] ? [textOf(objectOf(block["toolResult"])["toolUseId"])] : [],
    );
    if ([...open].sort().join() !== [...answered].sort().join())
      say(`the calls ${open.join(", ") || "(none)"} are answered by ${answered.join(", ") || "none"}`);
    open = blocks.flatMap((block) =>
      block["toolUse"] ? [textOf(objectOf(block["toolUse"])["toolUseId"])] : [],
    );
    if (new Set(open).size !== open.length) say("call ids are not unique");
    for (const fault of [
      ...blocks.flatMap((block) => blockFaults(block, model)),
      ...documentFaults(blocks, names),
    ])
      say(fault);
    const last = blocks.at(-1);
    if (
      index === messages.length - 1 &&
      message["role"] === "assistant" &&
      /\s$/.test(textOf(last?.["text"]))
    )
      say("the last text ends in white space");
  });
  if (open.length > 0) faults.push("calls without results at the end");
  return faults;
}

function blockFaults(block: Value, model: string): string[] {
  const faults = unknown(block, BLOCK, "a block");
  if (Object.keys(block).length !== 1) faults.push(`a block of [${Object.keys(block).join(", ")}]`);
  const { text, toolUse, toolResult, image, reasoningContent } = block;
  if (text !== undefined && textOf(text).trim() === "") faults.push("a text without a character");
  if (toolUse !== undefined) faults.push(...callFaults(objectOf(toolUse)));
  if (toolResult !== undefined) {
    const inside = listOf(objectOf(toolResult)["content"]);
    if (inside.length === 0) faults.push("a result without content");
    if (inside.some((each) => each["text"] !== undefined && textOf(each["text"]).trim() === ""))
      faults.push("a blank text in a result");
  }
  if (image !== undefined && !/^(png|jpeg|gif|webp)$/.test(textOf(objectOf(image)["format"])))
    faults.push(`an image of format ${textOf(objectOf(image)["format"])}`);
  return reasoningContent === undefined
    ? faults
    : [...faults, ...reasoningFaults(objectOf(reasoningContent), model)];
}

function callFaults({ input, toolUseId, name }: Value): string[] {
  const faults: string[] = [];
  if (typeof input !== "object" || input === null || Array.isArray(input))
    faults.push("arguments that are no object");
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(name))) faults.push(`the tool name ${textOf(name)}`);
  if (!/^[a-zA-Z0-9_.:-]{1,64}$/.test(textOf(toolUseId))) faults.push(`the call id ${textOf(toolUseId)}`);
  return faults;
}

/** Claude takes no reasoning without a signature, the others none with an empty one, those of OpenAI only encrypted. */
function reasoningFaults({ reasoningText, redactedContent }: Value, model: string): string[] {
  const { signature, text } = objectOf(reasoningText);
  const isText = reasoningText !== undefined;
  if (isText === (redactedContent !== undefined)) return ["reasoning of both kinds or of none"];
  if (isText && text === undefined) return ["reasoning without a text"];
  if (isText && signature === "") return ["reasoning with an empty signature"];
  if (isText && /claude/.test(model) && signature === undefined)
    return ["reasoning without a signature, to Claude"];
  return isText && /gpt/.test(model) ? ["reasoning text to a model that takes it encrypted"] : [];
}

/** Names are neutral and unique, a text stands beside, and no cache mark behind one that is no PDF. */
function documentFaults(blocks: readonly Value[], names: Set<string>): string[] {
  const faults: string[] = [];
  const documents = blocks.flatMap((block) => (block["document"] ? [objectOf(block["document"])] : []));
  for (const { name } of documents) {
    if (!/^[A-Za-z0-9()[\]-]+( [A-Za-z0-9()[\]-]+)*$/.test(textOf(name)))
      faults.push(`the document name "${textOf(name)}"`);
    if (names.has(textOf(name))) faults.push(`two documents of the name ${textOf(name)}`);
    names.add(textOf(name));
  }
  if (documents.length > 0 && !blocks.some(({ text }) => textOf(text) !== ""))
    faults.push("a document without a text beside it");
  blocks.forEach((block, index) => {
    const before = objectOf(blocks[index - 1]?.["document"]);
    if (block["cachePoint"] && before["format"] !== undefined && before["format"] !== "pdf")
      faults.push("a cache mark behind a document that is no PDF");
  });
  return faults;
}

function toolFaults(body: Value): string[] {
  const { toolConfig } = body;
  const faults: string[] = [];
  const isUsed = /"tool(Use|Result)":/.test(JSON.stringify(body["messages"]));
  if (toolConfig === undefined) return isUsed ? ["calls in the history, and no toolConfig"] : [];
  const tools = listOf(objectOf(toolConfig)["tools"]);
  if (tools.length === 0) faults.push("toolConfig without tools");
  for (const tool of tools)
    if (Object.keys(tool).length !== 1 || !/^(toolSpec|cachePoint|systemTool)$/.test(Object.keys(tool)[0]!))
      faults.push(`a tool of [${Object.keys(tool).join(", ")}]`);
  const names = specsOf(body).map(({ name }) => textOf(name));
  if (new Set(names).size !== names.length) faults.push("tools: names must be unique");
  for (const { name, description, inputSchema } of specsOf(body)) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(name))) faults.push(`the tool name ${textOf(name)}`);
    if (description === "") faults.push(`tool ${textOf(name)}: an empty description`);
    if (objectOf(objectOf(inputSchema)["json"])["type"] !== "object")
      faults.push(`tool ${textOf(name)}: no schema of an object`);
  }
  const choice = objectOf(toolConfig)["toolChoice"];
  if (choice === undefined) return faults;
  const kinds = Object.keys(objectOf(choice));
  if (kinds.length !== 1 || !/^(auto|any|tool)$/.test(kinds[0]!))
    faults.push(`a tool choice of [${kinds.join(", ")}]`);
  const wanted = objectOf(objectOf(choice)["tool"])["name"];
  return wanted === undefined || names.includes(textOf(wanted))
    ? faults
    : [...faults, `toolChoice: no tool ${textOf(wanted)}`];
}

function limitFaults(body: Value): string[] {
  const faults: string[] = [];
  const marks = JSON.stringify(body).split('"cachePoint":{').length - 1;
  if (marks > 4) faults.push(`${marks} cache marks`);
  const { stopSequences, temperature } = objectOf(body["inferenceConfig"]);
  if (Array.isArray(stopSequences) && stopSequences.length > 4) faults.push("more than 4 stop sequences");
  if (typeof temperature === "number" && temperature > 1) faults.push("temperature: range 0..1");
  const schema = objectOf(
    objectOf(objectOf(objectOf(body["outputConfig"])["textFormat"])["structure"])["jsonSchema"],
  )["schema"];
  if (schema !== undefined && typeof schema !== "string") faults.push("an answer schema that is no text");
  if (listOf(body["system"]).some(({ text }) => text !== undefined && textOf(text).trim() === ""))
    faults.push("a blank system text");
  return faults;
}

function unknown(value: Value, known: readonly string[], where: string): string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => `${where} has the unknown member ${name}`);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
