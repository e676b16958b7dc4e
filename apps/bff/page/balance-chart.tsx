import type { BalancePoint } from './balance-series.js';
import { day, money } from './format.js';

const width = 640;
const height = 180;

/** A line of day's end balances, with the same figures as a table for those who do not see it. */
export function BalanceChart({ points, currency }: { points: readonly BalancePoint[]; currency: string | undefined }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2) return <p class="note">There is no history to draw yet.</p>;
  const balances = points.map(({ balance }) => balance);
  const [low, high] = [Math.min(...balances, 0), Math.max(...balances, 0)];
  const summary = `Balance from ${day(first.day)} to ${day(last.day)}: now ${money(last.balance, currency)}, lowest ${money(
    Math.min(...balances),
    currency,
  )}, highest ${money(Math.max(...balances), currency)}.`;
  const zero = height - ((0 - low) / (high - low || 1)) * height;
  return (
    <figure class="chart">
      <svg viewBox={`0 -6 ${width} ${height + 12}`} role="img" aria-label={summary} preserveAspectRatio="none">
        <line class="zero" x1="0" x2={width} y1={zero} y2={zero} />
        <path class="area" d={`${steps(points, { low, high })} V${zero} H0 Z`} />
        <path class="line" d={steps(points, { low, high })} />
      </svg>
      <figcaption>{summary}</figcaption>
      <details>
        <summary>Month by month</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">End of</th>
              <th scope="col">Balance</th>
            </tr>
          </thead>
          <tbody>
            {monthEnds(points).map((point) => (
              <tr key={point.day}>
                <td>{point.day.slice(0, 7)}</td>
                <td class="amount">{money(point.balance, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** A balance holds until the next booking, so the line goes in steps. */
function steps(points: readonly BalancePoint[], { low, high }: { low: number; high: number }): string {
  const [start, end] = [Date.parse(points[0]?.day ?? ''), Date.parse(points.at(-1)?.day ?? '')];
  return points
    .map(({ day: on, balance }, index) => {
      const x = (((Date.parse(on) - start) / (end - start || 1)) * width).toFixed(1);
      const y = (height - ((balance - low) / (high - low || 1)) * height).toFixed(1);
      return index === 0 ? `M${x} ${y}` : `H${x} V${y}`;
    })
    .join(' ');
}

function monthEnds(points: readonly BalancePoint[]): BalancePoint[] {
  const lastOfMonth = new Map(points.map((point) => [point.day.slice(0, 7), point]));
  return [...lastOfMonth.values()].toReversed();
}
