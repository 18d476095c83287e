/** Over buttons that say themselves what they do: a head is there for who hears the table. */
export const ActionHead = () => (
  <th scope="col" className="does">
    <span style={{ position: "absolute", left: "-999rem" }}>Action</span>
  </th>
);
