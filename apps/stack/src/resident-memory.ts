import { readdir, readFile } from 'node:fs/promises';

/** Memory of the stack's processes, in mebibytes. */
export interface ResidentMemory {
  /** Sum of every process's resident set; pages that processes share are counted in each of them. */
  rssMb: number;
  /** Sum of proportional set sizes: shared pages are counted once, so this is what the machine really gives. */
  pssMb: number;
  processes: number;
}

async function parentsByPid(): Promise<Map<number, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await Promise.all(
    pids.map(async (pid) => {
      // Field 4 of /proc/<pid>/stat, counted after the parenthesised command name (proc(5)).
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return [pid, parent] as const;
    }),
  );
  return new Map(entries);
}

function withDescendants(roots: number[], parents: Map<number, number>): Set<number> {
  const found = new Set(roots);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return found;
}

async function kilobytes(file: string, field: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

/** Adds up the memory of these processes and all their descendants; undefined where there is no /proc. */
export async function residentMemory(pids: number[]): Promise<ResidentMemory | undefined> {
  if (process.platform !== 'linux') return undefined;
  const all = [...withDescendants(pids, await parentsByPid())];
  const sum = async (file: string, field: string): Promise<number> => {
    const sizes = await Promise.all(all.map((pid) => kilobytes(`/proc/${pid}/${file}`, field)));
    return Math.round(sizes.reduce((total, size) => total + size, 0) / 1024);
  };
  return { rssMb: await sum('status', 'VmRSS'), pssMb: await sum('smaps_rollup', 'Pss'), processes: all.length };
}

/**
 * Milliseconds since the command that started this process began: the oldest ancestor that is npm, else this process.
 * Clock ticks since boot are read from /proc/<pid>/stat, field 22 (proc(5)); USER_HZ is 100 on Linux.
 */
export async function msSinceCommand(): Promise<number> {
  const own = performance.now();
  if (process.platform !== 'linux') return own;
  const [uptime] = (await readFile('/proc/uptime', 'utf8')).split(' ');
  let oldest = own;
  for (let pid = process.ppid; pid > 1;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (/\bnpm\b/.test(command)) oldest = Math.max(oldest, (Number(uptime) - Number(fields[19]) / 100) * 1000);
    pid = Number(fields[1] ?? 0);
  }
  return oldest;
}
