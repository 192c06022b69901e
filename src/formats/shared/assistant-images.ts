/** Images of the assistant, for formats and providers that accept images only from the user. */
import type { Block, ChatRequest, ImageBlock, Turn } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import { blockPath, turnPath } from "./paths.ts";

/** Text before the images in the user turn. */
const HEADING = "[image from the assistant's last answer]";
/** Text of an assistant turn with nothing but images: without it the user's turns on both sides would become one. */
const STAND_IN = "[image]";

/**
 * Moves the images of assistant turns to the next user turn, behind its tool results, and reports each. An image that no
 * user turn follows is dropped. A client of the provider's own format keeps its images where they are.
 * @param format its foreign blocks stay where they are
 */
export function moveImages(
  request: ChatRequest,
  format: string,
  { sameFormat, reportLoss }: Pick<CodecContext, "sameFormat" | "reportLoss">,
): ChatRequest {
  if (sameFormat) return request;
  const isImage = (block: Block) => imageOf(block, format) !== undefined;
  if (!request.turns.some(({ role, blocks }) => role === "assistant" && blocks.some(isImage))) return request;
  const last = request.turns.findLastIndex(({ role }) => role === "user");
  let waiting: ImageBlock[] = [];
  const turns = request.turns.map((turn, index): Turn => {
    if (turn.role === "user") {
      const images = waiting;
      waiting = [];
      return images.length === 0 ? turn : { ...turn, blocks: withImages(turn.blocks, images) };
    }
    if (turn.role !== "assistant" || !turn.blocks.some(isImage)) return turn;
    for (const block of turn.blocks) {
      const image = imageOf(block, format);
      if (!image) continue;
      const path = blockPath(block, turnPath(turn, request));
      if (index < last) {
        waiting.push(image);
        reportLoss("converted", path, "sent with the next user message, because this one can have no images");
      } else
        reportLoss("dropped", path, "an assistant message can have no images, and no user message follows");
    }
    const rest = turn.blocks.filter((block) => !isImage(block));
    return { ...turn, blocks: rest.length > 0 ? rest : [{ type: "text", text: STAND_IN }] };
  });
  return { ...request, turns };
}

function imageOf(block: Block, format: string): ImageBlock | undefined {
  if (block.type === "image") return block;
  const isForeign = block.type === "foreign" && block.format !== format;
  return isForeign && block.instead?.type === "image" ? block.instead : undefined;
}

function withImages(blocks: readonly Block[], images: readonly ImageBlock[]): Block[] {
  const at = blocks.findIndex(({ type }) => type !== "tool-result");
  const place = at < 0 ? blocks.length : at;
  return [...blocks.slice(0, place), { type: "text", text: HEADING }, ...images, ...blocks.slice(place)];
}
