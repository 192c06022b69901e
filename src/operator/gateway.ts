/** The gateway: health, metrics, and the document of the API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";
import { answer } from "./shapes.ts";

/** The type of Prometheus' text format. */
export const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

export const Health = answer({ status: Type.String(), degraded: Type.Array(Type.String()) });
export type Health = Static<typeof Health>;

const HEALTH = {
  method: "GET",
  summary: "Whether the books are kept",
  needs: { role: "none", on: "path" },
  answer: { name: "Health", schema: Health },
} as const;

export const health = contract({ ...HEALTH, path: "/health", id: "health" });
export const healthOfApi = contract({ ...HEALTH, path: "/admin/v1/health", id: "healthOfApi" });

export const metrics = contract({
  method: "GET",
  path: "/metrics",
  id: "metrics",
  summary: "Metrics of all workers, as Prometheus reads them",
  description: "Open if weir listens on loopback; otherwise with an admin key or a read key for `/`.",
  needs: { role: "scraper", on: "gateway" },
  answer: { text: PROMETHEUS },
});

export const describe = contract({
  method: "GET",
  path: "/admin/v1/openapi.json",
  id: "describe",
  summary: "This document",
  needs: { role: "read", on: "path" },
  answer: { name: "Document", schema: Type.Object({}) },
});
