// SPDX-License-Identifier: Apache-2.0
// Reads what the kernel tells of itself and of PCI devices in one-line text files (/proc, /sys).
#ifndef LIFTOFF_SYSFS_H
#define LIFTOFF_SYSFS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// The first line of PATH without its line break, cut to SIZE; false if there is none or it is empty.
static inline bool sysfs_read(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool read = fgets(text, (int)size, file) != NULL;
    fclose(file);
    if (read) text[strcspn(text, "\n")] = '\0';
    return read && *text;
}

// The path of FILE of the PCI device at PCI_BUS_ID (vendors write it in either case and with longer domains than the
// kernel); false if it is no bus id or SIZE is too small.
static inline bool sysfs_pci_path(const char *pci_bus_id, const char *file, char *path, size_t size)
{
    unsigned domain, bus, device, function;
    if (!pci_bus_id || sscanf(pci_bus_id, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return false;
    int length = snprintf(path, size, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/%s", domain, bus, device, function, file);
    return (size_t)length < size;
}

static inline bool sysfs_pci_read(const char *pci_bus_id, const char *file, char *text, size_t size)
{
    char path[128];
    return sysfs_pci_path(pci_bus_id, file, path, sizeof path) && sysfs_read(path, text, size);
}

#endif
