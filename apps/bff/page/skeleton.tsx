/** Stands where something is being loaded: so many lines, and a word for those who do not see them. */
export function Skeleton({ lines = 3, what }: { lines?: number; what: string }) {
  return (
    <div class="skeleton">
      <span class="unseen">Loading {what}…</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} aria-hidden="true" />
      ))}
    </div>
  );
}
