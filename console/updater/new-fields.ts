import type { EditableNames, NameFields } from "../../src/contract/updater-page.ts";

const fieldsWith = (devices: string): NameFields => ({
  name: "",
  zone: "",
  source: "",
  target: "",
  ttl: "",
  create: false,
  paused: false,
  ipv4: { isOn: true, devices },
  ipv6: { isOn: false, devices },
});

function onlyDevice(sources: Known["sources"]): string {
  const [device = "", ...others] = sources.length === 1 ? (sources[0]?.devices ?? []) : [];
  return others.length === 0 ? device : "";
}

type Known = Pick<EditableNames, "entries" | "targets" | "sources">;

/**
 * What a new name starts with: as the last one, but at a service that can create its record, if there is one, and with
 * the only interface.
 */
export function newFields({ entries, targets, sources }: Known): NameFields {
  const emptyFields = fieldsWith(onlyDevice(sources));
  const { zone = "", source = "", target = "" } = entries.at(-1)?.fields ?? {};
  const [only, ...others] = targets;
  if (others.length === 0) return { ...emptyFields, zone, source, create: only?.create ?? false };
  const last = targets.find(({ name }) => name === target);
  const used = last?.create ? last : (targets.find(({ create }) => create) ?? last);
  const isChosen = used !== undefined && sources.length > 0;
  return { ...emptyFields, zone, source, target: isChosen ? used.name : "", create: used?.create ?? false };
}
