/** A Converse request piece by piece, and its wishes as chat-completions would write them. */
import { made, madeCall, place, type Piece, type Speaker } from "./pieces.ts";
import { listOf, objectOf, textOf, type Value } from "./said.ts";

/** The pieces of a body that reached Bedrock. */
export function piecesOfConverse(body: Value): Piece[] {
  return [
    ...blocksOf(body["system"], "system", "system"),
    ...listOf(body["messages"]).flatMap((message, index) =>
      blocksOf(message["content"], `messages[${index}].content`, message["role"] as Speaker),
    ),
    ...specsOf(body).map((spec, index) =>
      made("tool", `tools[${index}]`, "system", textOf(spec["name"]), {
        description: textOf(spec["description"]),
        schema: objectOf(spec["inputSchema"])["json"],
        strict: spec["strict"] === true,
      }),
    ),
  ];
}

/** The declarations of tools. */
export function specsOf(body: Value): Value[] {
  return listOf(objectOf(body["toolConfig"])["tools"]).flatMap((tool) =>
    tool["toolSpec"] === undefined ? [] : [objectOf(tool["toolSpec"])],
  );
}

function blocksOf(content: unknown, path: string, by: Speaker): Piece[] {
  return listOf(content).flatMap((block, index) => pieceOf(block, `${path}[${index}]`, by));
}

function pieceOf(block: Value, path: string, by: Speaker): Piece[] {
  const { toolUse, toolResult, image, document, video, audio } = block;
  if (toolUse !== undefined) {
    const { name, input, toolUseId } = objectOf(toolUse);
    return [madeCall(name, input, toolUseId, path)];
  }
  if (toolResult !== undefined) {
    const { toolUseId, content, status } = objectOf(toolResult);
    const inside = blocksOf(content, path, "tool");
    return [made("result", path, "tool", "", { id: textOf(toolUseId), inside, failed: status === "error" })];
  }
  if (block["json"] !== undefined) return [made("text", path, by, JSON.stringify(block["json"]))];
  if (image !== undefined) return [made("image", path, by, whereOf(objectOf(image)))];
  if (audio !== undefined) return [made("audio", path, by, whereOf(objectOf(audio)))];
  if (document !== undefined) return [documentOf(objectOf(document), path, by)];
  if (video !== undefined) return [made("document", path, by, whereOf(objectOf(video)))];
  const text = textOf(block["text"]);
  return text.trim() === "" ? [] : [made("text", path, by, text)];
}

/** A document of plain text is its text. */
function documentOf(document: Value, path: string, by: Speaker): Piece {
  const { source, format, context } = document;
  const { bytes, text } = objectOf(source);
  const plain =
    textOf(text) || (format === "txt" ? Buffer.from(textOf(bytes), "base64").toString("utf8") : "");
  if (plain === "") return made("document", path, by, whereOf(document));
  return made("text", path, by, context === undefined ? plain : `${textOf(context)} ${plain}`);
}

function whereOf({ source }: Value): string {
  const { bytes, s3Location } = objectOf(source);
  return s3Location === undefined ? place(`data:,${textOf(bytes)}`) : textOf(objectOf(s3Location)["uri"]);
}

/** The wishes as the Messages format writes them, because Claude has its own in the same words. @param stream the address asks for one */
export function converseWishes(body: Value, stream: boolean): Value {
  const { maxTokens, temperature, topP, stopSequences } = objectOf(body["inferenceConfig"]);
  const extra = objectOf(body["additionalModelRequestFields"]);
  const { any, tool } = objectOf(objectOf(body["toolConfig"])["toolChoice"]);
  const { structure } = objectOf(objectOf(body["outputConfig"])["textFormat"]);
  const schema = objectOf(objectOf(structure)["jsonSchema"])["schema"];
  const effort =
    objectOf(extra["output_config"])["effort"] ?? objectOf(extra["reasoningConfig"])["maxReasoningEffort"];
  const wishes: Value = {
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    top_k: extra["top_k"] ?? objectOf(extra["inferenceConfig"])["topK"],
    stop_sequences: stopSequences,
    stream: stream || undefined,
    thinking: extra["thinking"],
    output_config: {
      effort,
      format: schema && { type: "json_schema", schema: JSON.parse(textOf(schema)) as unknown },
    },
    tool_choice: any ? { type: "any" } : tool ? { type: "tool", name: objectOf(tool)["name"] } : undefined,
    tools: specsOf(body),
  };
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined));
}
