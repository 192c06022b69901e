/** Images of requests, as services take them. */

/** The first characters of images in base64, by their types. */
const BEGINNINGS: readonly (readonly [beginning: string, type: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/** @param media a link, a data URI, or base64 @returns undefined: it is no image */
export function imageUrl(media: string): string | undefined {
  if (/^https?:/i.test(media)) return media;
  if (/^data:/i.test(media)) return /^data:image\//i.test(media) ? media : undefined;
  const [, type] = BEGINNINGS.find(([beginning]) => media.startsWith(beginning)) ?? [];
  return type && `data:${type};base64,${media}`;
}
