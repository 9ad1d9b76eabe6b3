/* The commands by which a kernel asks for transfers. */
#include "emulator.h"

#include <string.h>

#include "../include/crts.h"
#include "../include/slave.h"

int athread_get(dma_mode mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize)
{
  struct core *core = enter("athread_get", __builtin_frame_address(0));
  struct transfer t = {.kind = GET, .memory = src, .local = dest, .len = len, .bsize = bsize, .stride = stride, .reply = reply};
  uint64_t own = UINT64_C(1) << core->id;
  int row = core->id / 8;
  switch (mode) {
  case PE_MODE:
    t.targets = own;
    break;
  case BCAST_MODE:
    for (int r = 0; r < 8; r++)
      if (mask >> r & 1)
        t.targets |= UINT64_C(0xff) << 8 * r;
    t.targets = transfer_cores(t.targets);
    if (t.targets == 0)
      broken("mode", core, NULL, "a broadcast with the mask 0x%x reaches no core of this group", (unsigned)(unsigned char)mask);
    break;
  case BROW_MODE:
    t.targets = transfer_cores(UINT64_C(0xff) << 8 * row);
    break;
  default:
    broken("mode", core, NULL, "athread_get in ROW_MODE or RANK_MODE is not emulated");
  }
  transfer_issue(core, &t);
  leave(core);
  return 0;
}

int athread_put(dma_mode mode, void *src, void *dest, int len, void *reply, int stride, int bsize)
{
  struct core *core = enter("athread_put", __builtin_frame_address(0));
  struct transfer t = {.kind = PUT, .memory = dest, .local = src, .len = len, .bsize = bsize, .stride = stride, .reply = reply};
  t.targets = UINT64_C(1) << core->id;
  if (mode != PE_MODE)
    broken("mode", core, NULL, "athread_put is emulated in PE_MODE only");
  transfer_issue(core, &t);
  leave(core);
  return 0;
}

static void only_pro(struct core *core, const char *what)
{
  if (!machine()->pro)
    broken("chip", core, NULL, "%s is of SW26010Pro (ATHREAD_CHIP=sw26010pro)", what);
}

void emulated_dma(int put, void *memory, void *local, int len, int bsize, int stride, crts_rply_t *reply)
{
  struct core *core = enter("CRTS_dma", __builtin_frame_address(0));
  only_pro(core, "CRTS_dma");
  struct transfer t = {.kind = put ? PUT : GET, .memory = memory, .local = local, .len = len, .bsize = bsize, .stride = stride};
  t.reply = reply;
  t.targets = UINT64_C(1) << core->id;
  transfer_issue(core, &t);
  if (reply == NULL) {
    struct transfer *last = core->pending;
    while (last->next != NULL)
      last = last->next;
    transfer_deliver(core, last);
  }
  leave(core);
}

static void issue_remote(struct core *core, struct transfer *t)
{
  struct machine *m = machine();
  t->number = ++core->transfers;
  transfer_check_sizes(core, t);
  transfer_check_local(core, t);
  if (t->reply != NULL)
    transfer_check_reply(core, t, t->reply);
  if (t->remote_reply != NULL)
    transfer_check_reply(core, t, t->remote_reply);
  if (!ldm_holds(core, t->memory, (size_t)t->len))
    broken("not-in-ldm", core, t, "the remote side is not local memory: it is given as an address of the same place in this core");
  t->clock = core->clocks[core->id];
  transfer_reaches(core, t);
  struct transfer *queued = transfer_queue(core, t);
  m->report.bytes_remote += (uint64_t)t->len;
  queued->event = record_issue(core, t->len, t->len, 0, 1);
  if (t->kind == RMA_GET)
    poison(t->local, (size_t)t->len);
  else
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1 && ldm_same(core, &m->cores[i], t->memory) != t->local)
        poison(ldm_same(core, &m->cores[i], t->memory), (size_t)t->len);
}

void emulated_rma(int put, void *local, crts_rply_t *local_reply, int len, int peer, void *remote, crts_rply_t *remote_reply)
{
  struct core *core = enter("CRTS_rma", __builtin_frame_address(0));
  only_pro(core, "CRTS_rma");
  if (peer < 0 || peer >= machine()->threads || peer == core->id)
    broken("target", core, NULL, "a remote transfer to core %d", peer);
  struct transfer t = {.kind = put ? RMA_PUT : RMA_GET, .memory = remote, .local = local, .len = len, .peer = peer, .reply = local_reply};
  t.remote_reply = remote_reply;
  t.targets = UINT64_C(1) << peer;
  issue_remote(core, &t);
  leave(core);
}

/* The cores of a broadcast; those of a line must all take part. */
static uint64_t group(const struct core *core, int along_row)
{
  if (along_row < 0)
    return transfer_cores(~UINT64_C(0));
  uint64_t line = along_row ? UINT64_C(0xff) << core->id / 8 * 8 : UINT64_C(0x0101010101010101) << core->id % 8;
  for (int i = 0; i < CORES; i++)
    if (line >> i & 1 && !(transfer_cores(line) >> i & 1))
      broken("target", core, NULL, "a broadcast along a %s, and core %d takes no part", along_row ? "row" : "column", i);
  return line;
}

void emulated_rma_broadcast(int along_row, int itself, void *dest, void *src, int len, crts_rply_t *local_reply, crts_rply_t *remote_reply)
{
  struct core *core = enter("CRTS_rma broadcast", __builtin_frame_address(0));
  only_pro(core, "CRTS_rma");
  struct transfer t = {.kind = RMA_PUT, .memory = dest, .local = src, .len = len, .peer = -1, .reply = local_reply};
  t.remote_reply = remote_reply;
  t.targets = group(core, along_row);
  if (!itself)
    t.targets &= ~(UINT64_C(1) << core->id);
  issue_remote(core, &t);
  leave(core);
}

void emulated_rma_collective(int along_row, void *dest, void *src, int len, int root)
{
  scope which = along_row < 0 ? ARRAY_SCOPE : along_row ? ROW_SCOPE : COL_SCOPE;
  int mask = along_row < 0 ? 0xffff : 0xff;
  if (this_core() != NULL) {
    this_core()->collective = 0;
    this_core()->collective_root = root;
    this_core()->collective_len = len;
  }
  athread_syn(which, mask);
  struct core *core = enter("CRTS_rma collective", __builtin_frame_address(0));
  only_pro(core, "CRTS_rma");
  uint64_t line = group(core, along_row);
  for (int i = 0; i < CORES; i++) {
    const struct core *other = &machine()->cores[i];
    if (line >> i & 1 && (other->collective_root != root || other->collective_len != len))
      broken("target", core, NULL, "a broadcast of %d bytes from core %d along a %s, and core %d takes part in one of %d bytes from core %d", len, root,
             along_row < 0 ? "group" : along_row ? "row" : "column", i, other->collective_len, other->collective_root);
  }
  int place_here = along_row < 0 ? core->id : along_row ? core->id % 8 : core->id / 8;
  if (place_here == root) {
    struct transfer t = {.kind = RMA_PUT, .memory = dest, .local = src, .len = len, .peer = -1};
    t.targets = group(core, along_row);
    issue_remote(core, &t);
    struct transfer *last = core->pending;
    while (last->next != NULL)
      last = last->next;
    for (int i = 0; i < CORES; i++)
      if (t.targets >> i & 1)
        machine()->cores[i].collective = last->event + 1;
    transfer_deliver(core, last);
  }
  leave(core);
  athread_syn(which, mask);
  core = enter("CRTS_rma collective", __builtin_frame_address(0));
  if (core->collective == 0)
    broken("target", core, NULL, "a broadcast along a %s without core %d of it", along_row ? "row" : "column", root);
  record(core, RECEIVE, core->collective - 1, 0, 0);
  leave(core);
}

unsigned long emulated_cycles(void)
{
  struct core *core = enter("rpcc", __builtin_frame_address(0));
  unsigned long cycles = (unsigned long)core->stated_cycles;
  leave(core);
  return cycles;
}

void emulated_misaligned(const void *address, unsigned multiple)
{
  char where[96];
  broken("misaligned", this_core(), NULL, "a vector is loaded or stored at %s, not a multiple of %u bytes", place(this_core(), address, where),
         multiple);
}
