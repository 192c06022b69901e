/** What Google refuses in a body although it is JSON: documented rules, and those that users report. */
import { listOf, objectOf, textOf, type Value } from "./said.ts";

/** Faults of a body that reached a Gemini upstream. */
export function geminiFaults(body: Value): string[] {
  return [
    ...unknown(body, MEMBERS, "the body"),
    ...unknown(objectOf(body["generationConfig"]), CONFIG, "generationConfig"),
    ...turnFaults(listOf(body["contents"])),
    ...systemFaults(objectOf(body["systemInstruction"])),
    ...toolFaults(body),
    ...configFaults(objectOf(body["generationConfig"])),
    ...(body["cachedContent"] !== undefined &&
    (body["tools"] ?? body["systemInstruction"] ?? body["toolConfig"])
      ? ["cachedContent beside tools or a system instruction"]
      : []),
    ...(JSON.stringify(body).includes("weir1.") ? ["a value that is wrapped for clients"] : []),
  ];
}

const MEMBERS =
  words(`contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels
  serviceTier store modelArmorConfig`);

const CONFIG =
  words(`temperature topP topK candidateCount maxOutputTokens stopSequences presencePenalty frequencyPenalty seed
  responseMimeType responseSchema responseJsonSchema responseLogprobs logprobs responseModalities mediaResolution
  speechConfig imageConfig thinkingConfig audioTimestamp routingConfig continuationToken enableEnhancedCivicAnswers`);

const PART =
  words(`text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall
  toolResponse`);

const BESIDE = words("thought thoughtSignature videoMetadata mediaResolution partMetadata");

/** Roles alternate from the user's on; answers to calls stand alone, in the order and number of the calls. */
function turnFaults(turns: readonly Value[]): string[] {
  const faults: string[] = [];
  if (turns.length === 0) faults.push("no contents");
  if (turns.length > 0 && turns[0]!["role"] !== "user")
    faults.push("contents[0]: the first turn is not the user's");
  let open: Value[] = [];
  turns.forEach((turn, index) => {
    const say = (sentence: string) => faults.push(`contents[${index}]: ${sentence}`);
    const parts = listOf(turn["parts"]);
    const answers = parts.flatMap((part) =>
      part["functionResponse"] ? [objectOf(part["functionResponse"])] : [],
    );
    if (parts.length === 0) say("no parts");
    if (turn["role"] !== "user" && turn["role"] !== "model") say(`the role ${String(turn["role"])}`);
    const before = turns[index - 1];
    const isBehindAnswers = listOf(before?.["parts"]).some((part) => part["functionResponse"]);
    if (before && before["role"] === turn["role"] && !(isBehindAnswers && answers.length === 0))
      say("two turns of one role in a row");
    if (answers.length > 0 && answers.length !== parts.length)
      say("answers to calls with something beside them");
    const [called, answered] = [open, answers].map((list) => list.map(({ name }) => textOf(name)).join(" "));
    if (called !== answered) say(`the calls "${called}" are answered by "${answered}"`);
    open.forEach(({ id }, place) => {
      if (id !== answers[place]?.["id"]) say(`the id of answer ${place} is not that of its call`);
    });
    open = parts.flatMap((part) => (part["functionCall"] ? [objectOf(part["functionCall"])] : []));
    for (const part of parts) for (const fault of partFaults(part)) say(fault);
  });
  if (open.length > 0) faults.push("calls without answers at the end");
  return faults;
}

function partFaults(part: Value): string[] {
  const faults = unknown(part, [...PART, ...BESIDE], "a part");
  const kinds = Object.keys(part).filter((name) => PART.includes(name));
  const { text, thoughtSignature: signature, inlineData, fileData, functionCall } = part;
  if (kinds.length > 1 || (kinds.length === 0 && signature === undefined))
    faults.push(`a part of [${kinds.join(", ")}]`);
  if (typeof text === "string" && text.trim() === "" && signature === undefined)
    faults.push("a text without a character");
  if (signature !== undefined && !isBase64(signature)) faults.push("a signature that is not base64");
  if (inlineData !== undefined) faults.push(...mediaFaults(objectOf(inlineData)));
  if (fileData !== undefined && textOf(objectOf(fileData)["fileUri"]) === "")
    faults.push("a file without an address");
  const args = objectOf(functionCall)["args"];
  if (
    functionCall !== undefined &&
    args !== undefined &&
    (typeof args !== "object" || args === null || Array.isArray(args))
  )
    faults.push("arguments that are no object");
  return faults;
}

/** The sentinel that stands for a missing signature is the only one that is not base64. */
function isBase64(value: unknown): boolean {
  return /^[A-Za-z0-9+/_-]+=*$/.test(textOf(value));
}

function mediaFaults({ mimeType, data }: Value): string[] {
  const faults = /^[A-Za-z0-9+/_-]*=*$/.test(textOf(data)) ? [] : ["data that is not base64"];
  const type = textOf(mimeType);
  if (type === "image/gif") faults.push("an image that Google does not take: image/gif");
  if (!/^(image|audio|video|text|application)\/[\w.+-]+$/.test(type)) faults.push(`the type "${type}"`);
  return faults;
}

function systemFaults(system: Value): string[] {
  const parts = listOf(system["parts"]);
  if (Object.keys(system).length > 0 && parts.length === 0) return ["systemInstruction has no parts"];
  return parts.some(({ text }) => textOf(text).trim() === "")
    ? ["systemInstruction: a text without a character"]
    : [];
}

function toolFaults(body: Value): string[] {
  const faults: string[] = [];
  const { tools, toolConfig } = body;
  if (Array.isArray(tools) && tools.length === 0) faults.push("tools is empty");
  const declarations = listOf(tools).flatMap((tool) => listOf(tool["functionDeclarations"]));
  const names = declarations.map(({ name }) => textOf(name));
  if (new Set(names).size !== names.length) faults.push("tools: names must be unique");
  for (const declaration of declarations) {
    const say = (sentence: string) => faults.push(`tool ${textOf(declaration["name"])}: ${sentence}`);
    const { parameters, parametersJsonSchema, description } = declaration;
    for (const fault of unknown(declaration, DECLARATION, "the declaration")) say(fault);
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(textOf(declaration["name"]))) say("the name is not legal");
    if (description === "") say("an empty description");
    if (parameters !== undefined && parametersJsonSchema !== undefined) say("two schemas");
    if (parameters !== undefined) for (const fault of subsetFaults(parameters)) say(fault);
    if (parametersJsonSchema !== undefined)
      for (const fault of schemaFaults(parametersJsonSchema)) say(fault);
  }
  const calling = objectOf(objectOf(toolConfig)["functionCallingConfig"]);
  const { mode, allowedFunctionNames: allowed } = calling;
  if (mode !== undefined && !/^(AUTO|ANY|NONE|VALIDATED)$/.test(textOf(mode)))
    faults.push(`the mode ${String(mode)}`);
  if (allowed !== undefined && mode !== "ANY" && mode !== "VALIDATED")
    faults.push("allowedFunctionNames without ANY");
  for (const name of (allowed as string[] | undefined) ?? [])
    if (!names.includes(name)) faults.push(`allowedFunctionNames: no tool ${name}`);
  if (mode === "ANY" && names.length === 0) faults.push("a call is demanded and no tool declared");
  return faults;
}

const DECLARATION = words(
  "name description parameters parametersJsonSchema response responseJsonSchema behavior",
);

function configFaults(config: Value): string[] {
  const faults: string[] = [];
  const { thinkingLevel, thinkingBudget } = objectOf(config["thinkingConfig"]);
  if (thinkingLevel !== undefined && thinkingBudget !== undefined)
    faults.push("both a level and a budget of thinking");
  if (thinkingLevel !== undefined && !/^(MINIMAL|LOW|MEDIUM|HIGH)$/.test(textOf(thinkingLevel)))
    faults.push(`the level ${textOf(thinkingLevel)}`);
  const { responseSchema, responseJsonSchema, responseMimeType, stopSequences } = config;
  if (responseSchema !== undefined && responseJsonSchema !== undefined) faults.push("two answer schemas");
  if ((responseSchema ?? responseJsonSchema) !== undefined && responseMimeType !== "application/json")
    faults.push("an answer schema without the type application/json");
  if (responseSchema !== undefined) faults.push(...subsetFaults(responseSchema));
  if (responseJsonSchema !== undefined) faults.push(...schemaFaults(responseJsonSchema));
  if (Array.isArray(stopSequences) && (stopSequences.length > 5 || stopSequences.includes("")))
    faults.push("more than 5 stop sequences, or an empty one");
  if (typeof config["temperature"] === "number" && config["temperature"] > 2)
    faults.push("temperature: range 0..2");
  return faults;
}

/** Keywords of the `Schema` of `parameters` and `responseSchema`; any other one refuses the whole request. */
const SUBSET =
  words(`type format title description nullable enum items maxItems minItems properties required minProperties
  maxProperties minLength maxLength pattern example anyOf propertyOrdering default minimum maximum`);

/** Every schema of a `Schema`, by its keywords; names of properties are data. */
function subsetFaults(schema: unknown): string[] {
  const value = objectOf(schema);
  const { type, properties, items, anyOf, required } = value;
  const faults = unknown(value, SUBSET, "a schema");
  if (type !== undefined && !/^(STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)$/i.test(textOf(type)))
    faults.push(`the type ${String(type)} in a schema`);
  const names = Object.keys(objectOf(properties));
  for (const name of (required as string[] | undefined) ?? [])
    if (!names.includes(name)) faults.push(`a schema requires ${name}, which it does not have`);
  if (textOf(type).toUpperCase() === "ARRAY" && items === undefined)
    faults.push("an array without items in a schema");
  const inner = [
    ...Object.values(objectOf(properties)),
    ...(items === undefined ? [] : [items]),
    ...listOf(anyOf),
  ];
  return [...faults, ...inner.flatMap(subsetFaults)];
}

/** The other door takes JSON Schema, but for a few words. */
function schemaFaults(schema: unknown): string[] {
  const value = objectOf(schema);
  const refused = ["$schema", "$id", "$comment", "const"].filter((name) => value[name] !== undefined);
  const faults = refused.map((name) => `the keyword ${name} in a schema`);
  const maps = ["properties", "$defs", "definitions"].flatMap((name) => Object.values(objectOf(value[name])));
  const lists = ["anyOf", "oneOf", "allOf"].flatMap((name) => listOf(value[name]));
  const inner = [...maps, ...lists, ...(typeof value["items"] === "object" ? [value["items"]] : [])];
  return [...faults, ...inner.flatMap(schemaFaults)];
}

function unknown(value: Value, known: readonly string[], where: string): string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => `${where} has the unknown member ${name}`);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
