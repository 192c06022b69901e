/** The gateway: health, metrics, and the document of this API. */
import { describe, health, healthOfApi, metrics, PROMETHEUS } from "../../operator/gateway.ts";
import { type AdminOperation, type AdminRequest, answers } from "../operation.ts";

/** @param document the OpenAPI document */
export function gatewayOperations(document: () => object): AdminOperation[] {
  return [
    answers(health, healthOf),
    answers(healthOfApi, healthOf),
    answers(metrics, ({ books }) => ({ text: books.metrics(), type: PROMETHEUS })),
    answers(describe, () => ({ json: document() })),
  ];
}

function healthOf({ books }: Pick<AdminRequest, "books">) {
  const { degraded } = books.health();
  return { json: { status: degraded.length === 0 ? "ok" : "degraded", degraded } };
}
