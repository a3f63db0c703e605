// SPDX-License-Identifier: Apache-2.0
// Messages from child to parent. See wire.h.
#include "common/wire.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool write_all(int fd, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = write(fd, from, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        from += written;
        count -= (size_t)written;
    }
    return true;
}

bool wire_send(int fd, enum wire_type type, uint32_t row, const void *payload, size_t bytes)
{
    char message[sizeof(struct wire_header) + WIRE_BYTES_MAX];
    struct wire_header header = {type, row, (uint32_t)bytes};
    if (bytes > WIRE_BYTES_MAX) return false;
    memcpy(message, &header, sizeof header);
    if (bytes) memcpy(message + sizeof header, payload, bytes);
    return write_all(fd, message, sizeof header + bytes);
}

bool wire_send_texts(int fd, enum wire_type type, uint32_t row, const char *const *texts, size_t count)
{
    char payload[WIRE_BYTES_MAX];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(texts[i]) + 1;
        if (used + bytes > sizeof payload) return false;
        memcpy(payload + used, texts[i], bytes);
        used += bytes;
    }
    return wire_send(fd, type, row, payload, used);
}

bool wire_texts(const char *payload, size_t bytes, const char **texts, size_t count)
{
    if (bytes == 0 || payload[bytes - 1] != '\0') return false;
    const char *end = payload + bytes;
    for (size_t i = 0; i < count; i++) {
        if (payload >= end) return false;
        texts[i] = payload;
        payload += strlen(payload) + 1;
    }
    return payload == end;
}

bool wire_fill(struct wire_reader *reader)
{
    memmove(reader->buffer, reader->buffer + reader->taken, reader->used - reader->taken);
    reader->used -= reader->taken;
    reader->taken = 0;
    ssize_t got = read(reader->fd, reader->buffer + reader->used, sizeof reader->buffer - reader->used);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) reader->ended = true;
    reader->used += (size_t)got;
    return true;
}

bool wire_next(struct wire_reader *reader, struct wire_header *header, const char **payload, bool *broken)
{
    size_t left = reader->used - reader->taken;
    if (left < sizeof *header) return false;
    memcpy(header, reader->buffer + reader->taken, sizeof *header);
    if (header->bytes > WIRE_BYTES_MAX) {
        *broken = true;
        return false;
    }
    if (left < sizeof *header + header->bytes) return false;
    *payload = reader->buffer + reader->taken + sizeof *header;
    reader->taken += sizeof *header + header->bytes;
    return true;
}
