import { useLayoutEffect, useState } from 'preact/hooks';
import { axisValues, balanceOn, type BalancePoint, dayAfter, daysBetween, monthStarts } from './balance-series.js';
import { day, money, month, shortMoney } from './format.js';

const height = 220;
/** Room for the labels. */
const edge = { left: 52, right: 8, top: 10, bottom: 24 };
/** Of a label of a month, with the gap to the next. */
const monthWidth = 44;

interface Chart {
  points: readonly BalancePoint[];
  currency: string | undefined;
}

/** A line of day's end balances; any day of it is read by pointing at it or with the arrow keys. */
export function BalanceChart({ points, currency }: Chart) {
  const [first, last] = [points[0], points.at(-1)];
  const [plot, width] = useWidth();
  const [chosen, choose] = useState<number>();
  if (!first || !last || points.length < 2) return <p class="note">There is no history to draw yet.</p>;
  const days = daysBetween(first.day, last.day);
  const offset = Math.min(chosen ?? days, days);
  const on = dayAfter(first.day, offset);
  const reading = `${day(on)}: ${money(balanceOn(points, on), currency)}`;
  const summary = summaryOf(points, currency);
  const pointAt = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - left - edge.left) / (wide - edge.left - edge.right);
    choose(Math.round(Math.min(1, Math.max(0, share)) * days));
  };
  return (
    <figure class="chart">
      <p class="reading" aria-hidden="true">
        {reading}
      </p>
      <div
        class="plot"
        ref={plot}
        onPointerMove={pointAt}
        onPointerDown={pointAt}
        onPointerLeave={() => choose(undefined)}
      >
        <Plot {...{ points, currency, width, summary, offset, days }} />
        <input
          type="range"
          min={0}
          max={days}
          value={offset}
          aria-label="Balance on a day"
          aria-valuetext={reading}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
      </div>
      <figcaption class="note">{summary}</figcaption>
    </figure>
  );
}

interface PlotProps extends Chart {
  width: number;
  summary: string;
  /** Days from the first to the one that is read. */
  offset: number;
  days: number;
}

function Plot({ points, currency, width, summary, offset, days }: PlotProps) {
  const first = points[0]?.day ?? '';
  const balances = points.map(({ balance }) => balance);
  const values = axisValues(Math.min(...balances, 0), Math.max(...balances, 0));
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 1];
  const inner = { width: Math.max(1, width - edge.left - edge.right), height: height - edge.top - edge.bottom };
  const x = (on: string) => edge.left + (daysBetween(first, on) / days) * inner.width;
  const y = (balance: number) => edge.top + ((high - balance) / (high - low)) * inner.height;
  const on = dayAfter(first, offset);
  const line = points
    .map(({ day: at, balance }, index) => {
      const place = x(at).toFixed(1);
      return index === 0 ? `M${place} ${y(balance).toFixed(1)}` : `H${place} V${y(balance).toFixed(1)}`;
    })
    .join(' ');
  const months = monthStarts(first, points.at(-1)?.day ?? '');
  const every = Math.max(1, Math.ceil((months.length * monthWidth) / inner.width));
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary}>
      {values.map((value) => (
        <g key={value}>
          <line
            class={value === 0 ? 'zero' : 'grid'}
            x1={edge.left}
            x2={width - edge.right}
            y1={y(value)}
            y2={y(value)}
          />
          <text x={edge.left - 6} y={y(value) + 4} text-anchor="end">
            {shortMoney(value, currency)}
          </text>
        </g>
      ))}
      {months
        .filter((_, index) => index % every === 0)
        .map((start) => (
          <text key={start} x={x(start)} y={height - 6} text-anchor="middle">
            {month(start)}
          </text>
        ))}
      <path class="area" d={`${line} V${y(0)} H${edge.left} Z`} />
      <path class="line" d={line} />
      <line class="cursor" x1={x(on)} x2={x(on)} y1={edge.top} y2={height - edge.bottom} />
      <circle class="dot" cx={x(on)} cy={y(balanceOn(points, on) ?? 0)} r="5" />
    </svg>
  );
}

function summaryOf(points: readonly BalancePoint[], currency: string | undefined): string {
  const balances = points.map(({ balance }) => balance);
  const of = (amount: number | undefined) => money(amount, currency);
  const [from, to] = [day(points[0]?.day), day(points.at(-1)?.day)];
  return `Balance from ${from} to ${to}: now ${of(balances.at(-1))}, lowest ${of(Math.min(...balances))}, highest ${of(Math.max(...balances))}.`;
}

/** How wide an element is, also after it has changed: text in the drawing keeps its size that way. */
function useWidth() {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, width] as const;
}
