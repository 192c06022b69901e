/** Puts images into an answer that has their addresses, for clients that want base64. */
import type { ImageAnswer, ImageRequest, MadeImage } from "../../core/image.ts";

type Fetch = (url: string) => Promise<Uint8Array>;

/** One image after the other, so that only one is in memory twice. @returns the same answer where the client wants no base64 */
export async function fetched(
  answer: ImageAnswer,
  request: ImageRequest,
  fetch: Fetch,
): Promise<ImageAnswer> {
  const isWanted = request.wants === "b64_json" || (request.stream && request.wants === undefined);
  if (!isWanted || answer.images.every(({ url, base64 }) => url === undefined || base64 !== undefined))
    return answer;
  const images: MadeImage[] = [];
  for (const image of answer.images) images.push(await withContent(image, fetch));
  return { ...answer, images };
}

async function withContent(image: MadeImage, fetch: Fetch): Promise<MadeImage> {
  const { url, base64, ...rest } = image;
  if (url === undefined || base64 !== undefined) return image;
  const [, inline] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  return { ...rest, base64: inline ?? Buffer.from(await fetch(url)).toString("base64") };
}
