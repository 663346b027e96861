/**
 * The system calls that a rendering process may not make, as a seccomp program. A list of what is refused rather than
 * of what is allowed: what Node and the decoders need changes with each release of either, and an omission there would
 * fail images. What the kernel learned after the list was written is refused as well.
 *
 * Refused are: sockets; other processes, to start, signal, trace or reprioritise them; kernel interfaces that are known
 * for their holes or were made for administrators; shared memory and queues; and the changes to files that Landlock
 * does not know of.
 *
 * @returns null for an architecture whose numbers are not known here. Little-endian instructions of 8 bytes, in which
 *   {@link OWN_ID} stands for the id of the process
 */
export function seccompProgram(arch: string): Buffer | null {
  const column = arch === 'x64' ? 0 : arch === 'arm64' ? 1 : null
  if (column === null) return null
  const program = [
    [LOAD, 0, 0, OFFSET.arch],
    // A call by another architecture's numbers would pass for another call.
    [IF_EQUAL, 1, 0, AUDIT_ARCH[column]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, OFFSET.number],
    [IF_GREATER, 0, 1, LATEST_KNOWN],
    [RETURN, 0, 0, NO_SUCH_CALL],

    // The C library then falls back to calls whose arguments can be seen from here.
    ...Object.values(NO_SUCH).flatMap((numbers) => refused(numbers[column], NO_SUCH_CALL)),
    ...Object.values(REFUSED).flatMap((numbers) => refused(numbers[column], NOT_PERMITTED)),

    // A thread, or a process?
    [IF_EQUAL, 0, 4, JUDGED.clone[column]],
    [LOAD, 0, 0, OFFSET.firstArgument],
    [IF_ANY_BIT, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, NOT_PERMITTED],
    [RETURN, 0, 0, ALLOWED],

    // Signals to itself: to end itself, and between its threads. Limits of itself: 0, to read them.
    ...onlyWith(JUDGED.kill[column], OWN_ID),
    ...onlyWith(JUDGED.tgkill[column], OWN_ID),
    ...onlyWith(JUDGED.prlimit64[column], 0),
    [RETURN, 0, 0, ALLOWED],
  ]
  const bytes = Buffer.alloc(8 * program.length)
  program.forEach(([code, ifTrue, ifFalse, value], i) => {
    bytes.writeUInt16LE(code!, 8 * i)
    bytes.writeUInt8(ifTrue!, 8 * i + 2)
    bytes.writeUInt8(ifFalse!, 8 * i + 3)
    bytes.writeUInt32LE(value!, 8 * i + 4)
  })
  return bytes
}

/** What whoever installs the program puts its own id in the place of. */
export const OWN_ID = 0xdeadbeef

/** The numbers of the two calls that install it. */
export function callNumbers(arch: string): { prctl: number; prlimit64: number } | null {
  if (arch === 'x64') return { prctl: 157, prlimit64: JUDGED.prlimit64[0] }
  return arch === 'arm64' ? { prctl: 167, prlimit64: JUDGED.prlimit64[1] } : null
}

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

function refused(number: number | null, how: number): Instruction[] {
  if (number === null) return []
  return [
    [IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, how],
  ]
}

function onlyWith(number: number, firstArgument: number): Instruction[] {
  return [
    [IF_EQUAL, 0, 4, number],
    [LOAD, 0, 0, OFFSET.firstArgument],
    [IF_EQUAL, 1, 0, firstArgument],
    [RETURN, 0, 0, NOT_PERMITTED],
    [RETURN, 0, 0, ALLOWED],
  ]
}

/** Where `struct seccomp_data` has them; of the argument, its lower half. */
const OFFSET = { number: 0, arch: 4, firstArgument: 16 }

const LOAD = 0x20
const IF_EQUAL = 0x15
const IF_GREATER = 0x25
const IF_ANY_BIT = 0x45
const RETURN = 0x06

const ALLOWED = 0x7fff0000
const KILL_PROCESS = 0x80000000
const NOT_PERMITTED = 0x00050001
const NO_SUCH_CALL = 0x00050026

const AUDIT_ARCH = [0xc000003e, 0xc00000b7] as const
const CLONE_THREAD = 0x00010000
/** `mseal`, of Linux 6.10. Above it are also the x32 calls of x86-64. */
const LATEST_KNOWN = 462

/** The number on x86-64 and on arm64, null where there is no such call. */
type Numbers = readonly [number | null, number | null]

/** Allowed by an argument. */
const JUDGED = {
  clone: [56, 220],
  kill: [62, 129],
  tgkill: [234, 131],
  prlimit64: [302, 261],
} as const

const NO_SUCH: Record<string, Numbers> = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
}

const REFUSED: Record<string, Numbers> = {
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  fork: [57, null],
  vfork: [58, null],
  execveat: [322, 281],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  tkill: [200, 130],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  process_madvise: [440, 440],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setscheduler: [144, 119],
  sched_setparam: [142, 118],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  fsopen: [430, 430],
  fsmount: [432, 432],
  fsconfig: [431, 431],
  fspick: [433, 433],
  move_mount: [429, 429],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  syslog: [103, 116],
  fanotify_init: [300, 262],
  inotify_init: [253, null],
  inotify_init1: [294, 26],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  personality: [135, 92],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, null],
  fchown: [93, 55],
  lchown: [94, null],
  fchownat: [260, 54],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  utime: [132, null],
  utimes: [235, null],
  futimesat: [261, null],
  utimensat: [280, 88],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
}
