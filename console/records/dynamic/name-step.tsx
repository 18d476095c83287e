import { Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import type { Result } from "../../../src/core/result.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { findZones } from "../api.ts";
import { ZoneChoice } from "../zones/zone-choice.tsx";
import { addressesIn } from "./first-update.ts";
import { Step } from "./step.tsx";
import { aliasFault, currently, nameFault } from "./typed-name.ts";

type Props = {
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
  readonly zone: string | null;
  readonly onZone: (zone: string | null) => void;
  readonly owner: Result<string> | undefined;
  /** What the name has now; undefined while that is not known. */
  readonly there: readonly Rrset[] | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly tried: boolean;
};

export function NameStep(props: Props) {
  const { typed, zone, owner, there, tried } = props;
  const isAlias = there?.some(({ type }) => type === "CNAME") ?? false;
  return (
    <Step number={1} title="Name">
      <div className="fields">
        <TextInput
          label="Name"
          description="@ for the zone itself"
          placeholder="home"
          value={typed}
          onChange={(event) => props.onTyped(event.currentTarget.value)}
          error={(tried && nameFault(typed, owner)) || (isAlias && aliasFault)}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
        />
        <ZoneChoice
          label="Zone"
          description="the domain it is in"
          placeholder="choose…"
          mayChoose={isPrimary}
          chosen={zone === null ? [] : [zone]}
          // The last one replaces the one before.
          onChange={(chosen) => props.onZone(chosen.at(-1) ?? null)}
          error={tried && zone === null && "choose the zone"}
        />
      </div>
      {zone !== null && owner?.ok && !isAlias && there && (
        <Text size="sm" role="status" className="breaks">
          <b>{nameToUnicode(absoluteName(owner.value, zone))}</b> {currently(addressesIn(there))}
        </Text>
      )}
      <Problem error={props.error} retry={props.retry} />
    </Step>
  );
}

const isPrimary = ({ mode }: RrsetsZone): boolean => mode === "primary";

/** The first zones that can have a dynamic name. */
export function usePrimaryZones() {
  const { request } = useSession();
  const found = useQuery({ queryKey: ["zones", "choice", ""], queryFn: () => findZones(request, "", 1) });
  const names = found.data?.zones.filter(isPrimary).map(({ name }) => name) ?? [];
  return { names, error: found.error, retry: () => void found.refetch() };
}
