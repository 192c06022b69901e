/** Encodes reasoning options as `thinking` and `output_config.effort` (src/formats/README.md#reasoning-effort). */
export { type EncodedReasoning, encodeReasoning } from "../../shared/claude-reasoning.ts";
