/** Conversations that a provider keeps: the operations on them are relayed, where keys may use ids that weir does not know. */
import type { Gateway } from "../types.ts";
import type { ConversationOperation, ConversationRequest } from "./conversations.ts";
import { refusesUnknown } from "./foreign.ts";
import { soleKeeper } from "./keepers.ts";
import { relay, type RelayRequest, VENDOR_ID } from "./relay.ts";

/** What the provider is asked for. */
export interface RelayedConversation {
  method: RelayRequest["method"];
  /** The path behind the id of the conversation; it may have `{item}`. */
  below: string;
}

/** The operation, relayed for an id of a vendor to the only deployment that can have it. */
export function orRelayed(own: ConversationOperation, how: RelayedConversation): ConversationOperation {
  return (request, gateway) => {
    const deployment = deploymentOf(request, gateway);
    if (deployment === undefined) return own(request, gateway);
    const { call, format, id, item, query, bytes } = request;
    const { path } = format.client.beside.stored!.conversations!;
    const below = how.below.replace("{item}", item).slice(1);
    return relay(
      {
        ...{ call, format, id, query, deployment, bytes, method: how.method },
        ...(below !== "" && { below }),
        beside: path.slice(path.lastIndexOf("/") + 1),
      },
      gateway,
    );
  };
}

function deploymentOf({ call, format, id, item }: ConversationRequest, gateway: Gateway): string | undefined {
  const { isOwnId } = format.client.beside.stored!.conversations!;
  if (!VENDOR_ID.test(id) || isOwnId(id) || (item !== "" && !VENDOR_ID.test(item))) return undefined;
  if (refusesUnknown(call, gateway.answerOptions)) return undefined;
  return soleKeeper(gateway.registry, format.id);
}
