/** The gateway: health, metrics, and the document of this API. */
import { Type } from "@sinclair/typebox";
import type { AdminOperation } from "../operation.ts";
import { operation } from "../operation.ts";

/** The type of Prometheus' text format. */
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

/** @param document the OpenAPI document */
export function gatewayOperations(document: () => unknown): AdminOperation[] {
  const health = {
    method: "GET",
    summary: "Whether the books are kept",
    access: "open",
    answer: {
      name: "Health",
      schema: Type.Object({ status: Type.String(), degraded: Type.Array(Type.String()) }),
    },
  } as const;
  return [
    ...(["/health", "/admin/v1/health"] as const).map((path) =>
      operation({
        ...health,
        path,
        id: path === "/health" ? "health" : "healthOfApi",
        handle({ books }) {
          const { degraded } = books.health();
          return { json: { status: degraded.length === 0 ? "ok" : "degraded", degraded } };
        },
      }),
    ),
    operation({
      method: "GET",
      path: "/metrics",
      id: "metrics",
      summary: "Metrics of all workers, as Prometheus reads them",
      description: "Open if weir listens on loopback; otherwise with an admin key or a read key for `/`.",
      access: "scraper",
      wholeGateway: true,
      answer: { text: PROMETHEUS },
      handle: ({ books }) => ({ text: books.metrics(), type: PROMETHEUS }),
    }),
    operation({
      method: "GET",
      path: "/admin/v1/openapi.json",
      id: "describe",
      summary: "This document",
      access: "read",
      answer: { name: "Document", schema: Type.Object({}) },
      handle: () => ({ json: document() }),
    }),
  ];
}
