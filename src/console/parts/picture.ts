/** A part of the page as an SVG of its own: no class, no style, no link, so that every program shows it alike. */

const SVG = "http://www.w3.org/2000/svg";
/** Around the part. Pixels. */
const MARGIN = 16;
/** Pixels of a PNG for one of the page. */
const SCALE = 2;
/** Where the line of letters is, as a share of the height of a line box. */
const BASELINE = 0.76;

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity"] as const;
const WRITTEN = ["font-family", "font-size", "font-weight", "text-anchor"] as const;
/** Attributes of the page that mean nothing in a picture. */
const OF_PAGE = ["class", "style", "href", "tabindex", "role"];
/** What is worked, not read. */
const CONTROLS = "input, select, button, .filter, .order, .note, .tip, .seg, .print, .vh";

/** @param title the first line of the picture */
export function pictureOf(root: Element, title: string): SVGSVGElement {
  const box = root.getBoundingClientRect();
  const width = box.width + 2 * MARGIN;
  const height = box.height + 3 * MARGIN + 8;
  const picture = shape("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
  const page = getComputedStyle(document.body);
  picture.append(
    shape("rect", { width, height, fill: getComputedStyle(document.documentElement).backgroundColor }),
  );
  const head = shape("text", { x: MARGIN, y: MARGIN + 6, fill: page.color, "font-size": 12 });
  head.setAttribute("font-family", page.fontFamily);
  head.textContent = title;
  const body = shape("g", { transform: `translate(${MARGIN - box.left} ${2 * MARGIN - box.top})` });
  const hatches = document.querySelector("svg.vh defs");
  if (hatches) picture.append(plain(hatches, hatches.cloneNode(true) as Element));
  draw(root, body);
  picture.append(head, body);
  return picture as SVGSVGElement;
}

export const textOf = (picture: SVGSVGElement): string => new XMLSerializer().serializeToString(picture);

/** @throws Error if the browser cannot draw it */
export async function pngOf(picture: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  // The policy of the page permits pictures of `data:`, and none of `blob:`.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * SCALE;
  canvas.height = image.height * SCALE;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob(
      (blob) => (blob ? done(blob) : failed(new Error("The picture is too large."))),
      "image/png",
    ),
  );
}

function draw(node: Element, into: Element): void {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  // What a closed part hides has a box and a style; an element without a box of its own may have children that are seen.
  const isSeen = node.checkVisibility({ visibilityProperty: true }) || style.display === "contents";
  if (!isSeen || node.matches(CONTROLS)) return;
  if (node instanceof SVGSVGElement) {
    const copy = plain(node, node.cloneNode(true) as Element);
    for (const [name, value] of Object.entries({
      x: box.left,
      y: box.top,
      width: box.width,
      height: box.height,
    }))
      copy.setAttribute(name, String(value));
    into.append(copy);
    return;
  }
  const borders = { stroke: style.borderTopColor, "stroke-width": style.borderTopWidth };
  const hasBorder = parseFloat(style.borderLeftWidth) > 0 && parseFloat(style.borderTopWidth) > 0;
  const hasGround = !/, 0\)$|\/ 0\)$|^transparent$/.test(style.backgroundColor);
  const { left: x, top: y, width, height } = box;
  if (hasBorder || hasGround)
    into.append(
      shape("rect", {
        ...{ x, y, width, height, rx: parseFloat(style.borderTopLeftRadius) || 0 },
        fill: hasGround ? style.backgroundColor : "none",
        ...(hasBorder && borders),
      }),
    );
  else if (parseFloat(style.borderBottomWidth) > 0)
    into.append(
      shape("line", {
        ...{ x1: x, x2: x + width, y1: y + height, y2: y + height },
        ...{ stroke: style.borderBottomColor, "stroke-width": style.borderBottomWidth },
      }),
    );
  for (const child of node.childNodes)
    if (child instanceof Element) draw(child, into);
    else if (child instanceof Text) write(child, style, box.right, into);
}

/** Text word by word, where the page has each. @param end what lies beyond it is cut off */
function write(text: Text, style: CSSStyleDeclaration, end: number, into: Element): void {
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { left, top, width, height } = range.getBoundingClientRect();
    if (width === 0 || left + width > end + 1) continue;
    const written = shape("text", {
      ...{ x: left, y: top + height * BASELINE, fill: style.color },
      ...Object.fromEntries(WRITTEN.slice(0, 3).map((name) => [name, style.getPropertyValue(name)])),
    });
    written.textContent = word;
    into.append(written);
  }
}

/** Gives a copy the looks of the original as attributes. */
function plain(from: Element, copy: Element): Element {
  const style = getComputedStyle(from);
  for (const name of OF_PAGE) copy.removeAttribute(name);
  for (const { name } of [...copy.attributes]) if (name.startsWith("aria-")) copy.removeAttribute(name);
  for (const name of [...DRAWN, ...(from.localName === "text" ? WRITTEN : [])]) {
    // The address of a pattern is that of the page.
    const value = style.getPropertyValue(name).replace(/url\("?[^"#)]*#([^")]+)"?\)/, "url(#$1)");
    if (value !== "" && value !== "none") copy.setAttribute(name, value);
    else if (value === "none" && name === "fill") copy.setAttribute(name, value);
  }
  [...from.children].forEach((child, at) => plain(child, copy.children[at]!));
  return copy;
}

function shape(name: string, attributes: Readonly<Record<string, string | number>>): Element {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    if (key !== "xmlns") made.setAttribute(key, String(value));
  return made;
}
