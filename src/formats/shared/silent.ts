/** Why members of several formats may be missing upstream without a report: the reasons in the vocabularies. */

export const CACHED = "decides only what is cached; weir keeps the calls of a conversation at one deployment";
export const DISPLAYED = "decides what weir shows of the reasoning; weir keeps to it itself";
export const DETAIL = "other providers show every image in full size; weir reports the loss of `low`";
export const FIGURES = "asks for more figures about the answer, not for another answer";
export const IN_ANSWER = "stands in answers; providers do not read it back";
export const KIND = "repeats what the other members of the object show";
export const LOADED = "the provider gets the tool at once";
export const MACHINE = "decides where and how long a local model runs";
export const MATCHED = "finds the call that a result belongs to; the provider gets the id of that call";
export const MEDIA_TYPE = "weir, or the provider that fetches the file, reads the type from the bytes";
export const NAMED = "a label that the vendor demands; other formats have none";
export const STOPPED = "where the provider has no such field, weir ends the answer itself";
export const STORED = "decides only whether a copy of the answer is kept; weir keeps its own";
export const STREAMED = "decides only how the answer is streamed, which weir does itself";
export const STRICT = "all other providers keep to every schema, or weir reports that they do not";
