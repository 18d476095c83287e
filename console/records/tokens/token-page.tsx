import { Button, Group, Switch, Text, Title } from "@mantine/core";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { MadeToken, TokenEntry, TokenPage as TokenList } from "../../../src/contract/console.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { withKey } from "../../shared/keys/key-use.ts";
import { ListTable, Pages, readPage } from "../../shared/list-table.tsx";
import { Loading } from "../../shared/live/loading.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { useSearchPart } from "../../shared/search-part.ts";
import { useSession } from "../../shared/session/session.tsx";
import { When } from "../../shared/time/when.tsx";
import { ProviderList } from "../publication/provider-list.tsx";
import { NewToken } from "./new-token.tsx";
import { scopeInWords } from "./scope-in-words.ts";
import { TokenMade } from "./token-made.tsx";

export default function TokenPage() {
  const { request } = useSession();
  const queries = useQueryClient();
  const { query, set, open } = useSearchPart();
  const [made, setMade] = useState<MadeToken>();
  const [revoking, setRevoking] = useState<TokenEntry>();
  const [all, page] = [query.has("all"), readPage(query)];
  const found = useQuery({
    queryKey: ["tokens", all, page],
    queryFn: () => request<TokenList>("GET", `/console/tokens?page=${page}${all ? "&all" : ""}`),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: 10_000,
  });
  const tokens = found.data?.tokens;
  const anyRevoked = (found.data?.revoked ?? 0) > 0;

  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={1}>Tokens</Title>
        <Group>
          {anyRevoked && (
            <Switch label="Show revoked" checked={all} onChange={() => set({ all: all ? null : "", page: null })} />
          )}
          <Button onClick={() => open({ new: "" })} {...withKey("n")}>
            New token
          </Button>
        </Group>
      </Group>
      <Loading of={found} height={160} />
      {tokens?.length === 0 && <NoTokens anyRevoked={anyRevoked} />}
      {tokens !== undefined && tokens.length > 0 && <TokenTable tokens={tokens} onRevoke={setRevoking} />}
      <Pages
        last={found.data?.pages ?? 1}
        page={page}
        onChange={(next) => open({ page: next === 1 ? null : String(next) })}
      />
      <ProviderList />
      {query.has("new") && (
        <NewToken
          zone={query.get("zone")}
          owner={query.get("name")}
          onClose={() => set(closed)}
          onMade={(token) => {
            setMade(token);
            set(closed);
            void queries.invalidateQueries({ queryKey: ["tokens"] });
          }}
        />
      )}
      {made && <TokenMade made={made} onClose={() => setMade(undefined)} />}
      {revoking && <Revoke token={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  );
}

const NoTokens = ({ anyRevoked }: { readonly anyRevoked: boolean }) => (
  <Text>
    {anyRevoked ? "All tokens are revoked." : "There are no tokens yet."} A token lets a program read or write records:
    an updater, a router, a certificate client.
  </Text>
);

const closed = { new: null, zone: null, name: null };

function TokenTable(props: { readonly tokens: readonly TokenEntry[]; readonly onRevoke: (token: TokenEntry) => void }) {
  return (
    <ListTable heads={["Name", "Permissions", "Last used", "Created"]} actions>
      {props.tokens.map((token) => (
        <tr key={token.id}>
          <td data-label="Name">
            <b>{token.name}</b>
          </td>
          <td data-label="Permissions">
            <span className="breaks">
              {scopeInWords(token.scope)}
              {isExpired(token) && <b className="bad"> (expired)</b>}
            </span>
          </td>
          <td data-label="Last used">
            {token.lastUsed === null ? (
              "never"
            ) : (
              <span>
                <When at={token.lastUsed} />
                <span className="quiet">
                  , {token.uses === 1 ? "once" : `${token.uses.toLocaleString("en-GB")} times`}
                </span>
              </span>
            )}
          </td>
          <td data-label="Created">
            <When at={token.created} />
          </td>
          <td className="does">
            {token.revoked === null ? (
              <Button
                size="compact-xs"
                variant="subtle"
                color="red"
                onClick={() => props.onRevoke(token)}
                aria-label={`Revoke ${token.name}`}
              >
                Revoke…
              </Button>
            ) : (
              <span className="quiet">revoked</span>
            )}
          </td>
        </tr>
      ))}
    </ListTable>
  );
}

const isExpired = ({ scope, revoked }: TokenEntry): boolean =>
  revoked === null && scope.expires !== undefined && scope.expires <= Date.now();

function Revoke({ token, onClose }: { readonly token: TokenEntry; readonly onClose: () => void }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => request("DELETE", `/console/tokens/${token.id}`),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["tokens"] });
      onClose();
    },
  });
  return (
    <Dialog title={`Revoke “${token.name}”?`} onClose={onClose} size="md">
      <Text size="sm" mb="md">
        Programs that use it lose access immediately. This cannot be undone, but you can create a new token.
      </Text>
      <Problem error={revoke.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
        <Button color="red" onClick={() => revoke.mutate()} loading={revoke.isPending}>
          Revoke it
        </Button>
      </Group>
    </Dialog>
  );
}
