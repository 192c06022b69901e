/** Reports what the canonical request has and the format of the provider has not. */
import type { ChatRequest, ImageBlock, Turn } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import { fieldPath, turnPath } from "./paths.ts";

/** The abilities of a format. */
export interface Carried {
  /** Who the end user is. */
  user?: true;
  /** The name of the participant who wrote a message. */
  names?: true;
  /** That the model need not see an image in full size. */
  imageDetail?: true;
}

const NOTE = "the provider has no equivalent field";

export function reportUncarried(
  request: ChatRequest,
  carried: Carried,
  { reportLoss }: Pick<CodecContext, "reportLoss">,
): void {
  const { user, turns, completion } = request;
  if (completion) {
    reportLoss("converted", fieldPath(request, "turns"), "a model for conversations continues the text");
    if (completion.suffix)
      reportLoss("dropped", "suffix", "a model for conversations gets no text behind its answer");
  }
  if (user !== undefined && !carried.user) reportLoss("dropped", fieldPath(request, "user"), NOTE);
  const named = carried.names ? undefined : turns.find(({ name }) => name !== undefined);
  if (named) reportLoss("dropped", `${turnPath(named, request)}.name`, NOTE);
  const small = carried.imageDetail ? undefined : smallIn(turns);
  if (small) reportLoss("dropped", small.detailPath!, "the provider sees every image in full size");
}

/** The first image that the model need not see in full size. */
function smallIn(parts: readonly Pick<Turn, "blocks">[]): ImageBlock | undefined {
  for (const { blocks } of parts)
    for (const block of blocks) {
      if (block.type === "image" && isSmall(block)) return block;
      const inner = block.type === "tool-result" ? smallIn([block]) : undefined;
      if (inner) return inner;
    }
  return undefined;
}

function isSmall({ detail, detailPath }: ImageBlock): boolean {
  return detail === "low" && detailPath !== undefined;
}
