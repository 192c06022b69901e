/** Rules for how clients of a plugin's format continue stored answers and conversations. */
import type { ConversationCodec } from "../core/conversation-codec.ts";
import { isObject } from "../core/json.ts";
import type { StoredCodec } from "../core/stored-codec.ts";
import { callable, group, must, required, type Table, text, texts } from "./rules.ts";

const CONVERSATIONS: Table<ConversationCodec> = {
  path: required(text),
  idOf: required(callable),
  isOwnId: required(callable),
  named: required(callable),
  read: required(callable),
  requestOf: required(callable),
  itemsIn: required(callable),
  withItemsOf: required(callable),
  resolved: required(callable),
  portable: required(callable),
  object: required(callable),
  renamed: required(callable),
  item: required(callable),
  deleted: required(callable),
  unknown: required(callable),
  unknownItem: required(callable),
};

export const STORED: Table<StoredCodec> = {
  members: required(must("an object", isObject)),
  referenceMark: required(text),
  isOwnId: callable,
  paths: required(must("an object", isObject)),
  ignoredParameters: texts,
  ask: required(callable),
  expand: required(callable),
  detached: required(callable),
  inputItems: required(callable),
  split: required(callable),
  join: required(callable),
  withStored: required(callable),
  itemIds: required(callable),
  follow: required(callable),
  conversations: group("the conversations'", CONVERSATIONS),
  listItems: required(callable),
  deleted: required(callable),
  unknownAnswer: required(callable),
  unknownPrevious: required(callable),
  unknownItem: required(callable),
};
