/** The operations on conversations that weir keeps; none for a format without them. */
import { Type } from "@sinclair/typebox";
import {
  addConversationItems,
  type ConversationOperation,
  createConversation,
  deleteConversation,
  deleteConversationItem,
  listConversationItems,
  retrieveConversation,
  retrieveConversationItem,
  updateConversation,
} from "../gateway/stored/conversations.ts";
import { orRelayed, type RelayedConversation } from "../gateway/stored/relay-conversation.ts";
import { ADMISSION, CONVERSATIONS } from "./errors.ts";
import { type ClientFormat, type NamedSchema, type Operation, pascalCase } from "./operation.ts";
import { AFTER_ITEM, CONVERSATION_ID, CONVERSATION_ITEM, ITEM_LIMIT, ITEM_ORDER } from "./parameters.ts";
import { conversationRoute } from "./routes/conversation.ts";
import type { RouteContext } from "./routes/generate.ts";
import { AnswerDeleted, Conversation, ConversationItem, ItemList } from "./schemas.ts";
import { aliasesOf } from "./served-routes.ts";

/** One operation, and what differs from the others. */
interface Row {
  method: RelayedConversation["method"];
  /** Its path behind that of the conversations. */
  below: string;
  id: string;
  summary: string;
  answer: NamedSchema;
  request?: NamedSchema;
  parameters?: Operation["parameters"];
  operation: ConversationOperation;
}

const METADATA = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
  description: "At most 16 pairs, with names of at most 64 and values of at most 512 characters.",
});
const ITEMS = Type.Array(Type.Unknown(), {
  maxItems: 20,
  description: "Items as in `input` of a request.",
});

const OBJECT: NamedSchema = { name: "Conversation", schema: Conversation };
const LIST: NamedSchema = { name: "ConversationItemList", schema: ItemList };

const ROWS: readonly Row[] = [
  {
    method: "POST",
    below: "",
    id: "create",
    summary: "Make a conversation",
    request: {
      name: "ConversationCreation",
      schema: Type.Object({
        items: Type.Optional(Type.Union([ITEMS, Type.Null()])),
        metadata: Type.Optional(METADATA),
      }),
    },
    answer: OBJECT,
    operation: createConversation,
  },
  {
    method: "GET",
    below: "/{id}",
    id: "retrieve",
    summary: "Retrieve a conversation",
    answer: OBJECT,
    operation: retrieveConversation,
  },
  {
    method: "POST",
    below: "/{id}",
    id: "update",
    summary: "Change the metadata of a conversation",
    request: { name: "ConversationUpdate", schema: Type.Object({ metadata: METADATA }) },
    answer: OBJECT,
    operation: updateConversation,
  },
  {
    method: "DELETE",
    below: "/{id}",
    id: "delete",
    summary: "Delete a conversation",
    answer: { name: "ConversationDeleted", schema: AnswerDeleted },
    operation: deleteConversation,
  },
  {
    method: "GET",
    below: "/{id}/items",
    id: "listItemsOf",
    summary: "List the items of a conversation",
    answer: LIST,
    parameters: [ITEM_LIMIT, ITEM_ORDER, AFTER_ITEM],
    operation: listConversationItems,
  },
  {
    method: "POST",
    below: "/{id}/items",
    id: "addItemsTo",
    summary: "Add items to a conversation",
    request: { name: "ConversationAddition", schema: Type.Object({ items: ITEMS }) },
    answer: LIST,
    operation: addConversationItems,
  },
  {
    method: "GET",
    below: "/{id}/items/{item}",
    id: "retrieveItemOf",
    summary: "Retrieve an item of a conversation",
    answer: { name: "ConversationItem", schema: ConversationItem },
    parameters: [CONVERSATION_ITEM],
    operation: retrieveConversationItem,
  },
  {
    method: "DELETE",
    below: "/{id}/items/{item}",
    id: "deleteItemOf",
    summary: "Delete an item of a conversation",
    answer: OBJECT,
    parameters: [CONVERSATION_ITEM],
    operation: deleteConversationItem,
  },
];

export function conversationOperations(format: ClientFormat, context: RouteContext): Operation[] {
  const { routes, beside } = format.client;
  const codec = beside.stored?.conversations;
  if (!codec) return [];
  return ROWS.map(({ below, operation: own, parameters = [], ...row }) => {
    const operation =
      below === "" ? own : orRelayed(own, { method: row.method, below: below.slice("/{id}".length) });
    const path = codec.path + below;
    const ids = below === "" ? [] : [CONVERSATION_ID];
    return {
      ...row,
      path,
      id: `${row.id}${pascalCase(format.id)}Conversation`,
      summary: `${row.summary} (${format.id})`,
      aliases: aliasesOf(routes, path),
      access: "key",
      keyHeaders: routes.keyHeaders,
      isCall: true,
      formats: [format],
      parameters: [...ids, ...parameters],
      errors: [...CONVERSATIONS, ...ADMISSION],
      handle: conversationRoute(format, context, operation, { method: row.method, path, operation: "chat" }),
    };
  });
}
