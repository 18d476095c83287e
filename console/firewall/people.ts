import { useMutation, useMutationState, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ConsolePeople, UserField } from "../../src/contract/console-firewall.ts";
import { type Method, RequestProblem } from "../shared/live/request.ts";
import { useSession } from "../shared/session/session.tsx";

/** All users and privileges: few enough to load without paging. */
export function usePeople() {
  const { request } = useSession();
  return useQuery({ queryKey: ["people"], queryFn: () => request<ConsolePeople>("GET", "/console/people") });
}

export type PeopleWrite = { readonly method: Method; readonly path: string; readonly body?: unknown };

/** The error disappears when any later write succeeds: by then it is no longer relevant. */
export function usePeopleWrite<T>(onDone: (answer: T) => void) {
  const { request } = useSession();
  const queries = useQueryClient();
  const done = useMutationState({
    filters: { mutationKey: writing, status: "success" },
    select: ({ state }) => state.submittedAt,
  });
  const write = useMutation({
    mutationKey: writing,
    mutationFn: ({ method, path, body }: PeopleWrite) => request<T>(method, `/console/${path}`, body),
    onSuccess: async (answer) => {
      await queries.invalidateQueries({ queryKey: ["people"] });
      await queries.invalidateQueries({ queryKey: ["audit"] });
      onDone(answer);
    },
  });
  return { ...write, error: write.submittedAt < Math.max(0, ...done) ? null : write.error };
}

/** An error of one field is shown at that field, and any other next to the buttons. */
export function atFields<T extends { readonly error: Error | null }>(write: T, fields: readonly UserField[]) {
  const code = write.error instanceof RequestProblem ? write.error.code : "";
  const field = fields.find((each) => code === `field:${each}`);
  return {
    sending: { ...write, error: field === undefined ? write.error : null },
    faultOf: (userField: UserField) => (userField === field ? write.error?.message : undefined),
  };
}

const writing = ["write people"];

/** A form sends only what was changed in it: the rest may have been changed elsewhere since it was opened. */
export const changedParts = (before: object, after: object): object => {
  const old = new Map(Object.entries(before).map(([part, value]) => [part, JSON.stringify(value)]));
  return Object.fromEntries(Object.entries(after).filter(([part, value]) => JSON.stringify(value) !== old.get(part)));
};
